/// Hexadecimal digits of either case.
package enum HexDigits {
  /// The sixteen small ones.
  package static let small = Array("0123456789abcdef".utf8)
  /// The sixteen capital ones.
  package static let capital = Array("0123456789ABCDEF".utf8)

  /// The digit's value, nil for any other byte.
  package static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit &- UInt8(ascii: "a") &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit &- UInt8(ascii: "A") &+ 10
    default: nil
    }
  }

  /// Two small digits for each byte.
  package static func encode(_ bytes: some Collection<UInt8>) -> String { encode(Array(bytes)) }

  /// The same for an array: a generic function runs unspecialized from other modules, many times as long.
  package static func encode(_ bytes: [UInt8]) -> String {
    small.withUnsafeBufferPointer { digits in
      String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
        var end = 0
        for byte in bytes {
          text[end] = digits[Int(byte >> 4)]
          text[end + 1] = digits[Int(byte & 15)]
          end += 2
        }
        return end
      }
    }
  }
}
