/// Percent-encoding of URL parts (RFC 3986 §2).
enum PercentEncoder {
  /// Letters, digits and `-._~` stay; all else is encoded.
  static func encode(_ text: String) -> String {
    text.utf8.allSatisfy(PercentEncoding.isUnreserved) ? text : PercentEncoding.encode(text.utf8)
  }

  /// The same, but reserved characters and what is encoded already stay too.
  static func encodeIllegal(_ text: String) -> String {
    let given = Array(text.utf8)
    var bytes: [UInt8] = []
    for (index, byte) in given.enumerated() {
      let isEscape =
        byte == UInt8(ascii: "%") && PercentEncoding.value(of: given[(index + 1)...]) != nil
      if isEscape || PercentEncoding.isUnreserved(byte) || isReserved(byte) {
        bytes.append(byte)
      } else {
        PercentEncoding.append(byte, to: &bytes)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Takes the encoding off; a `%` without two digits stays.
  static func decode(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    return String(decoding: PercentEncoding.decode(text), as: UTF8.self)
  }

  private static func isReserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "["),
      UInt8(ascii: "]"), UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
      true
    default: false
    }
  }
}
