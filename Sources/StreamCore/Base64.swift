/// Base64 with padding (RFC 4648 §4).
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    append(bytes.span, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Adds the encoded form to a buffer.
  package static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
    text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
    var index = 0
    while index + 2 < bytes.count {
      let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
      for shift in [18, 12, 6, 0] { text.append(alphabet[Int(group >> UInt32(shift) & 63)]) }
      index += 3
    }
    let left = bytes.count - index
    guard left > 0 else { return }
    let group = UInt32(bytes[index]) << 16 | (left == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
    text.append(alphabet[Int(group >> 18 & 63)])
    text.append(alphabet[Int(group >> 12 & 63)])
    text.append(left == 2 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
    text.append(UInt8(ascii: "="))
  }
}
