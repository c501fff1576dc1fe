import Penstock

/// The line that shows how far a batch is. Pure: told where it is, says what to draw.
struct BatchBar: Sendable {
  /// Where a batch is.
  struct Standing: Sendable, Equatable {
    var ok = 0
    var failed = 0
    var skipped = 0
    var running = 0
    var bytes: Int64 = 0
    /// How much of the input is done, 0...1; nil when its length isn't known.
    var share: Double?

    var done: Int { ok + failed }
  }

  /// Rates follow the last seconds.
  private static let memory = 3.0

  private var last: (time: Duration, done: Int, bytes: Int64)?
  private(set) var requestRate: Double?
  private(set) var byteRate: Double?

  /// Takes note of where the batch is; rates follow from the difference.
  mutating func update(_ standing: Standing, at now: Duration) {
    guard let last else {
      self.last = (now, standing.done, standing.bytes)
      return
    }
    let seconds = (now - last.time) / .seconds(1)
    guard seconds > 0.05 else { return }
    self.last = (now, standing.done, standing.bytes)
    requestRate = Self.follow(requestRate, Double(standing.done - last.done) / seconds, over: seconds)
    byteRate = Self.follow(byteRate, Double(standing.bytes - last.bytes) / seconds, over: seconds)
  }

  private static func follow(_ old: Double?, _ new: Double, over seconds: Double) -> Double {
    guard let old else { return new }
    return old + (new - old) * min(1, seconds / memory)
  }

  /// Seconds until the end, as far as it can be told.
  func eta(_ standing: Standing, at now: Duration) -> Double? {
    guard let share = standing.share, share > 0.001, now > .seconds(1) else { return nil }
    return now / .seconds(1) * (1 - share) / share
  }

  func line(_ standing: Standing, at now: Duration, width: Int) -> String {
    var facts = ["\(standing.done) done"]
    facts.append("\(standing.failed) failed")
    facts.append("\(standing.running) in flight")
    if let requestRate { facts.append(Self.count(requestRate) + "/s") }
    if let byteRate { facts.append(ProgressFormat.rate(byteRate)) }
    if let share = standing.share { facts.append("\(Int(min(1, max(0, share)) * 100))%") }
    if let eta = eta(standing, at: now) { facts.append("ETA " + ProgressFormat.time(eta)) }
    if standing.skipped > 0 { facts.append("\(standing.skipped) skipped") }
    // What doesn't fit is left out from the end.
    while facts.count > 1, TextColumns.count(facts.joined(separator: "  ")) > width { facts.removeLast() }
    return TextColumns.cut(facts.joined(separator: "  "), to: width)
  }

  private static func count(_ rate: Double) -> String {
    rate < 99.5 ? "\((rate * 10).rounded() / 10)" : "\(Int(rate.rounded()))"
  }

  /// The same for programs.
  func json(_ standing: Standing, at now: Duration) -> [UInt8] {
    var line = JSONLine(event: "progress")
    line.integer("ok", standing.ok)
    line.integer("failed", standing.failed)
    line.integer("skipped", standing.skipped)
    line.integer("in_flight", standing.running)
    line.integer("bytes", standing.bytes)
    line.double("rps", requestRate.map { ($0 * 1000).rounded() / 1000 })
    line.double("rate", byteRate.map { $0.rounded() })
    line.double("eta", eta(standing, at: now).map { ($0 * 10).rounded() / 10 })
    return line.finish()
  }
}
