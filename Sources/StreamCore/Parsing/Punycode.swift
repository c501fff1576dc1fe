/// Punycode (RFC 3492): a label of any letters in those of ASCII.
package enum Punycode {
  private static let base: UInt32 = 36
  private static let minimum: UInt32 = 1
  private static let maximum: UInt32 = 26

  /// The label without its "xn--"; nil for one that is too long for any name.
  package static func encode(_ label: some Collection<Unicode.Scalar>) -> String? {
    guard label.count <= 256 else { return nil }
    var output = label.filter(\.isASCII).map { UInt8($0.value) }
    let plain = UInt32(output.count)
    var handled = plain
    if plain > 0 { output.append(UInt8(ascii: "-")) }
    var next: UInt32 = 128
    var delta: UInt32 = 0
    var bias: UInt32 = 72
    while handled < UInt32(label.count) {
      guard let smallest = label.lazy.map(\.value).filter({ $0 >= next }).min() else { return nil }
      let (step, overflow) = (smallest - next).multipliedReportingOverflow(by: handled + 1)
      guard !overflow, delta <= .max - step else { return nil }
      delta += step
      next = smallest
      for scalar in label {
        if scalar.value < next { delta += 1 }
        guard scalar.value == next else { continue }
        append(delta, bias: bias, to: &output)
        bias = adapted(delta, points: handled + 1, isFirst: handled == plain)
        delta = 0
        handled += 1
      }
      delta += 1
      next += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func append(_ number: UInt32, bias: UInt32, to output: inout [UInt8]) {
    var rest = number
    var position = base
    while true {
      let threshold = position <= bias ? minimum : min(maximum, position - bias)
      guard rest >= threshold else { break }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      position += base
    }
    output.append(digit(rest))
  }

  private static func digit(_ value: UInt32) -> UInt8 {
    value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
  }

  private static func adapted(_ delta: UInt32, points: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / points
    var steps: UInt32 = 0
    while delta > (base - minimum) * maximum / 2 {
      delta /= base - minimum
      steps += base
    }
    return steps + (base - minimum + 1) * delta / (delta + 38)
  }
}
