/// Percent-encoding of what goes into a URL (RFC 3986 §2.1).
enum PercentEncoding {
  /// Everything but unreserved characters is encoded.
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    encode(bytes) { isUnreserved($0) }
  }

  /// Only what can't stand in a URL is encoded: for text that is a query already.
  static func encodeKeepingQuery(_ bytes: some Sequence<UInt8>) -> String {
    encode(bytes) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
  }

  private static func encode(_ bytes: some Sequence<UInt8>, _ stays: (UInt8) -> Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      if stays(byte) {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
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
