/// A random UUID (RFC 9562 §5.4), by which a server knows the repeats of a request.
enum IdempotencyKey {
  static let field = "Idempotency-Key"

  static func make(_ random: () -> Double) -> String {
    var bytes = (0..<16).map { _ in UInt8(truncatingIfNeeded: Int(random() * 256)) }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Array("0123456789abcdef")
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append("-") }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }
}
