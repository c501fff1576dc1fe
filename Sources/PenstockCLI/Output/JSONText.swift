import Penstock

/// How JSON writes strings and numbers (RFC 8259).
enum JSONText {
  static func append(_ value: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    var value = value
    value.withUTF8 { bytes in
      var start = 0
      for index in bytes.indices where isEscaped(bytes[index]) {
        // What needs nothing is copied as a whole.
        text.append(contentsOf: bytes[start..<index])
        append(escaped: bytes[index], to: &text)
        start = index + 1
      }
      text.append(contentsOf: bytes[start...])
    }
    text.append(UInt8(ascii: "\""))
  }

  /// DEL is allowed in JSON, but terminals act on it.
  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
  }

  private static func append(escaped byte: UInt8, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(byte)
    case 0x0A: text.append(UInt8(ascii: "n"))
    case 0x0D: text.append(UInt8(ascii: "r"))
    case 0x09: text.append(UInt8(ascii: "t"))
    default:
      text += Array("u00".utf8)
      text += [HexDigits.small[Int(byte >> 4)], HexDigits.small[Int(byte & 15)]]
    }
  }

  /// The shortest digits that read back as the same number, without an exponent up to 21 places.
  static func number(_ value: Double) -> String {
    var text = value.description
    guard let mark = text.firstIndex(of: "e") else {
      if text.hasSuffix(".0") { text.removeLast(2) }
      return text
    }
    guard let exponent = Int(text[text.index(after: mark)...]), abs(exponent) <= 21 else { return text }
    let isNegative = text.hasPrefix("-")
    let mantissa = text[..<mark].drop { $0 == "-" }.split(separator: ".")
    let whole = String(mantissa[0])
    let fraction = mantissa.count > 1 && mantissa[1] != "0" ? String(mantissa[1]) : ""
    var plain: String
    if exponent < 0 {
      plain = "0." + String(repeating: "0", count: -exponent - 1) + whole + fraction
    } else {
      let padded = fraction + String(repeating: "0", count: max(0, exponent - fraction.count))
      let rest = padded.dropFirst(exponent)
      plain = whole + padded.prefix(exponent) + (rest.isEmpty ? "" : "." + rest)
    }
    return (isNegative ? "-" : "") + plain
  }

  /// A duration in seconds, to the microsecond.
  static func seconds(_ value: Duration) -> String {
    let parts = value.components
    let micros = parts.attoseconds / 1_000_000_000_000
    let isNegative = parts.seconds < 0 || micros < 0
    var text = "\(isNegative ? "-" : "")\(parts.seconds.magnitude)"
    guard micros != 0 else { return parts.seconds == 0 ? "0" : text }
    let digits = String(micros.magnitude)
    var fraction = String(repeating: "0", count: 6 - digits.count) + digits
    while fraction.hasSuffix("0") { fraction.removeLast() }
    text += "." + fraction
    return text
  }
}
