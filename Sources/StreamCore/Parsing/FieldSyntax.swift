/// The character classes of header fields (RFC 9110 §5).
package enum FieldSyntax {
  /// Whether a byte may stand in a token: method, field name (RFC 9110 §5.6.2).
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Whether a byte may stand in a field value: no CR, LF or NUL (RFC 9110 §5.5).
  package static func isValueByte(_ byte: UInt8) -> Bool {
    byte != 0x0D && byte != 0x0A && byte != 0x00
  }

  /// Lower-cases an ASCII letter.
  @inline(__always)
  package static func lower(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// Without blanks (space, tab) at either end (RFC 9110 §5.6.3).
  package static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    var rest = bytes.drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return rest
  }

  /// The same for text.
  package static func trimmed(_ text: some StringProtocol) -> String {
    String(decoding: trimmed(Array(text.utf8)[...]), as: UTF8.self)
  }
}
