/// Names of JSON objects as they stand in a document.
package enum JSONKey {
  /// Whether the bytes between two quotation marks, escapes included, stand for a name. The bytes have been
  /// checked by `JSONScanner`.
  package static func matches(_ raw: [UInt8], _ name: [UInt8]) -> Bool {
    raw.contains(UInt8(ascii: "\\")) ? unescaped(raw) == name : raw == name
  }

  /// The name without escapes; lone surrogates become U+FFFD.
  package static func unescaped(_ raw: [UInt8]) -> [UInt8] {
    var units: [UInt8] = []
    var index = 0
    while index < raw.count {
      guard raw[index] == UInt8(ascii: "\\"), index + 1 < raw.count else {
        units.append(raw[index])
        index += 1
        continue
      }
      let letter = raw[index + 1]
      index += 2
      switch letter {
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0C)
      case UInt8(ascii: "n"): units.append(0x0A)
      case UInt8(ascii: "r"): units.append(0x0D)
      case UInt8(ascii: "t"): units.append(0x09)
      case UInt8(ascii: "u"):
        var code = [hex(raw, index)]
        index += 4
        if code[0] & 0xFC00 == 0xD800, index + 5 < raw.count, raw[index] == UInt8(ascii: "\\"),
          raw[index + 1] == UInt8(ascii: "u")
        {
          code.append(hex(raw, index + 2))
          index += 6
        }
        units += Array(String(decoding: code, as: UTF16.self).utf8)
      default: units.append(letter)
      }
    }
    return units
  }

  private static func hex(_ raw: [UInt8], _ start: Int) -> UInt16 {
    var value: UInt16 = 0
    for index in start..<min(raw.count, start + 4) {
      value = value << 4 | UInt16(HexDigits.value(of: raw[index]) ?? 0)
    }
    return value
  }
}
