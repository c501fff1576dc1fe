/// Percent-encoding where all but unreserved characters (RFC 3986 §2.3) is encoded, with capital digits, as
/// AWS's signatures want it.
enum AWSEncoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  static func encode(_ bytes: some Sequence<UInt8>, keepingSlashes: Bool = false) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      if isUnreserved(byte) || (keepingSlashes && byte == UInt8(ascii: "/")) {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes behind percent escapes; a "%" without two digits stands for itself.
  static func decode(_ text: some StringProtocol) -> [UInt8] {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
      {
        result.append(byte)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
