import Penstock

/// The drawings of a run's page, as SVG within the page.
enum BatchCharts {
  private static let width = 900.0
  private static let height = 200.0
  private static let left = 60.0
  private static let right = 60.0
  private static let bottom = 24.0

  /// Bars of requests a second, failed ones on top, and a line of bytes a second.
  static func throughput(_ timeline: BatchTimeline) -> String {
    let slots = timeline.slots
    let most = slots.map { Double($0.ok + $0.failed) / timeline.width }.max() ?? 0
    let mostBytes = slots.map { Double($0.bytes) / timeline.width }.max() ?? 0
    guard most > 0 else { return "<p class=\"none\">None.</p>" }
    let step = (width - left - right) / Double(slots.count)
    var shapes = ""
    var line: [String] = []
    for (index, slot) in slots.enumerated() {
      let x = left + Double(index) * step
      let ok = Double(slot.ok) / timeline.width / most * height
      let failed = Double(slot.failed) / timeline.width / most * height
      shapes += bar("ok", x: x, width: step, top: height - ok, height: ok)
      shapes += bar("bad", x: x, width: step, top: height - ok - failed, height: failed)
      if mostBytes > 0 {
        let y = height - Double(slot.bytes) / timeline.width / mostBytes * height
        line.append("\(number(x + step / 2)),\(number(y))")
      }
    }
    if !line.isEmpty { shapes += "<polyline class=\"bytes\" points=\"\(line.joined(separator: " "))\"/>" }
    let end = Duration.seconds(timeline.width * Double(slots.count))
    shapes += label(left - 6, 12, "\(number(most))/s", anchor: "end")
    if mostBytes > 0 {
      shapes += label(width - right + 6, 12, ProgressFormat.rate(mostBytes), anchor: "start")
    }
    shapes += label(left, height + 16, "0 s", anchor: "start")
    shapes += label(width - right, height + 16, time(end), anchor: "end")
    return svg(shapes, "Requests a second as bars, failed ones in red; bytes a second as a line")
  }

  /// Bars of counts over times that double by steps.
  static func latency(_ histogram: LatencyHistogram) -> String {
    guard let minimum = histogram.minimum, let maximum = histogram.maximum else {
      return "<p class=\"none\">None.</p>"
    }
    // Four steps to each doubling, from the power of two below the shortest.
    var bounds: [Duration] = []
    var exponent = (max(1e-6, minimum / .seconds(1)) / 1e-6).binade.exponentSteps
    while bounds.isEmpty || (bounds.last ?? .zero) <= maximum {
      bounds.append(.seconds(1e-6 * exponent.value))
      exponent = exponent.next
    }
    let counts = zip(bounds, bounds.dropFirst()).map { Double(histogram.count(in: $0..<$1)) }
    guard let most = counts.max(), most > 0 else { return "<p class=\"none\">None.</p>" }
    let step = (width - left - right) / Double(counts.count)
    var shapes = ""
    for (index, count) in counts.enumerated() {
      let tall = count / most * height
      shapes += bar("ok", x: left + Double(index) * step, width: step, top: height - tall, height: tall)
    }
    let every = max(1, counts.count / 8)
    for index in stride(from: 0, to: bounds.count, by: every)
    where left + Double(index) * step <= width - right + 1 {
      shapes += label(left + Double(index) * step, height + 16, time(bounds[index]), anchor: "middle")
    }
    shapes += label(left - 6, 12, number(most), anchor: "end")
    return svg(shapes, "How many requests took how long, on a logarithmic scale")
  }

  // MARK: phases

  private static let phaseNames = ["queued", "name look-up", "connect", "TLS", "waiting", "body"]

  static var legend: String {
    phaseNames.enumerated().map { index, name in
      "<span class=\"p\(index)\">&#8195;</span> \(name)"
    }.joined(separator: " &#160; ")
  }

  static func phases(_ slow: BatchReport.Slow, longest: Double) -> String {
    guard let timings = slow.timings, longest > 0 else { return "<span class=\"none\">–</span>" }
    let parts = Self.parts(timings)
    let blocks = zip(parts.indices, parts).map { index, seconds in
      "<i class=\"p\(index)\" style=\"width:\(number(min(100, seconds / longest * 100)))%\" "
        + "title=\"\(phaseNames[index]) \(time(.seconds(seconds)))\"></i>"
    }
    return "<div class=\"bar\">\(blocks.joined())</div>"
  }

  /// Seconds of each phase: the timings are measured from the call, so each is the difference to the one before.
  static func parts(_ timings: ExchangeFacts.Timings) -> [Double] {
    var last = Duration.zero
    func step(_ time: Duration?) -> Double {
      guard let time, time > last else { return 0 }
      defer { last = time }
      return (time - last) / .seconds(1)
    }
    return [
      step(timings.queued), step(timings.dns), step(timings.connect), step(timings.tls),
      step(timings.firstByte),
      step(timings.total),
    ]
  }

  // MARK: parts

  private static func svg(_ shapes: String, _ title: String) -> String {
    "<svg viewBox=\"0 0 \(Int(width)) \(Int(height + bottom))\" role=\"img\"><title>\(title)</title>"
      + "<line class=\"axis\" x1=\"\(Int(left))\" x2=\"\(Int(width - right))\" y1=\"\(Int(height))\" y2=\"\(Int(height))\"/>"
      + shapes + "</svg>"
  }

  private static func bar(_ kind: String, x: Double, width: Double, top: Double, height: Double) -> String {
    guard height > 0 else { return "" }
    let gap = width > 3 ? 1.0 : 0
    return
      "<rect class=\"\(kind)\" x=\"\(number(x))\" y=\"\(number(top))\" width=\"\(number(max(0.5, width - gap)))\" "
      + "height=\"\(number(height))\"/>"
  }

  private static func label(_ x: Double, _ y: Double, _ text: String, anchor: String) -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(text)</text>"
  }

  static func number(_ value: Double) -> String {
    JSONText.number(value >= 100 ? value.rounded() : (value * 100).rounded() / 100)
  }

  static func time(_ time: Duration) -> String {
    let seconds = time / .seconds(1)
    if seconds < 0.001 { return "\(number(seconds * 1_000_000)) µs" }
    if seconds < 1 { return "\(number(seconds * 1000)) ms" }
    return seconds < 60 ? "\(number(seconds)) s" : ProgressFormat.time(seconds)
  }
}

/// Numbers that grow by the fourth root of two.
private struct QuarterSteps {
  private static let roots = [1, 1.189207115002721, 1.414213562373095, 1.681792830507429]
  let base: Double
  let quarter: Int

  var value: Double { base * Self.roots[quarter] }
  var next: QuarterSteps {
    quarter == 3 ? QuarterSteps(base: base * 2, quarter: 0) : QuarterSteps(base: base, quarter: quarter + 1)
  }
}

extension Double {
  /// Steps from this power of two on.
  fileprivate var exponentSteps: QuarterSteps { QuarterSteps(base: self, quarter: 0) }
}
