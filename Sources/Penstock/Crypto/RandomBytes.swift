/// Random bytes from the system's generator, which is fit for secrets.
enum RandomBytes {
  static func make(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// So many bytes as text that can stand in a URL or a header.
  static func text(_ count: Int) -> String { Base64URL.encode(make(count)) }
}
