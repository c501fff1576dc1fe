/// A random UUID (RFC 9562 §5.4), by which a server knows the repeats of a request.
enum IdempotencyKey {
  static let field = "Idempotency-Key"

  static func make(_ random: () -> Double) -> String {
    var bytes = (0..<16).map { _ in UInt8(truncatingIfNeeded: Int(random() * 256)) }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]].map(HexDigits.encode)
      .joined(separator: "-")
  }
}
