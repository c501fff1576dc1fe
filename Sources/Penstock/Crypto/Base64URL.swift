import StreamCore

/// Base64 for URLs, without padding (RFC 4648 §5), and a decoder of both alphabets.
enum Base64URL {
  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for byte in Base64.encode(bytes).utf8 {
      switch byte {
      case UInt8(ascii: "+"): text.append(UInt8(ascii: "-"))
      case UInt8(ascii: "/"): text.append(UInt8(ascii: "_"))
      case UInt8(ascii: "="): break
      default: text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes, from either alphabet, with or without padding; nil for any other character.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var group: UInt32 = 0
    var bits: UInt32 = 0
    var padding = 0
    var digits = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = value(of: byte) else { return nil }
      digits += 1
      group = group << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: group >> bits))
      }
    }
    guard digits % 4 != 1, padding <= 2 else { return nil }
    return bytes
  }

  private static func value(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
