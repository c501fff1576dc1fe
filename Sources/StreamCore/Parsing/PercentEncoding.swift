/// Percent-encoding (RFC 3986 §2.1), with capital digits.
package enum PercentEncoding {
  /// Encodes all bytes but those that are kept: by default the unreserved ones.
  package static func encode(
    _ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool = isUnreserved
  ) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      if isKept(byte) { text.append(byte) } else { append(byte, to: &text) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// "%" and the two digits of a byte.
  package static func append(_ byte: UInt8, to text: inout [UInt8]) {
    text += [
      UInt8(ascii: "%"), HexDigits.capital[Int(byte >> 4)], HexDigits.capital[Int(byte & 15)],
    ]
  }

  /// The bytes behind percent escapes; a "%" without two digits stands for itself.
  package static func decode(_ text: some StringProtocol) -> [UInt8] {
    var rest = Array(text.utf8)[...]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rest.count)
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = value(of: rest) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// What the two digits at the beginning stand for; nil when there aren't two.
  package static func value(of digits: ArraySlice<UInt8>) -> UInt8? {
    guard digits.count >= 2, let high = HexDigits.value(of: digits[digits.startIndex]),
      let low = HexDigits.value(of: digits[digits.startIndex + 1])
    else { return nil }
    return high << 4 | low
  }

  /// Letters, digits and `-._~` (RFC 3986 §2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
