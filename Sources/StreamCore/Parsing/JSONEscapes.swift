/// What stands behind backslashes in strings of JSON (RFC 8259 §7), read strictly: half a surrogate pair is no text.
package enum JSONEscapes {
  /// What is wrong with an escape.
  package enum Fault: Error {
    case end
    case unknown
    case digits
    case halfCharacter
  }

  /// A string's bytes without escapes; nil for a wrong escape. What they decode to isn't checked otherwise.
  package static func removed(from text: UnsafeRawBufferPointer) -> [UInt8]? {
    var plain: [UInt8] = []
    plain.reserveCapacity(text.count)
    var place = 0
    while place < text.count {
      let byte = text[place]
      place += 1
      guard byte == UInt8(ascii: "\\") else {
        plain.append(byte)
        continue
      }
      do throws(Fault) {
        try read(text, &place, into: &plain)
      } catch {
        return nil
      }
    }
    return plain
  }

  /// Reads the escape whose backslash stands before a place, and goes behind it.
  package static func read(
    _ text: UnsafeRawBufferPointer, _ place: inout Int, into plain: inout [UInt8]
  ) throws(Fault) {
    guard place < text.count else { throw .end }
    let letter = text[place]
    place += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain.append(letter)
    case UInt8(ascii: "b"): plain.append(0x08)
    case UInt8(ascii: "f"): plain.append(0x0C)
    case UInt8(ascii: "n"): plain.append(0x0A)
    case UInt8(ascii: "r"): plain.append(0x0D)
    case UInt8(ascii: "t"): plain.append(0x09)
    case UInt8(ascii: "u"):
      var code = try unit(text, &place)
      if code & 0xFC00 == 0xD800 {
        guard place + 1 < text.count, text[place] == UInt8(ascii: "\\"), text[place + 1] == UInt8(ascii: "u")
        else { throw .halfCharacter }
        place += 2
        let low = try unit(text, &place)
        guard low & 0xFC00 == 0xDC00 else { throw .halfCharacter }
        code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(code) else { throw .halfCharacter }
      plain.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    default: throw .unknown
    }
  }

  private static func unit(_ text: UnsafeRawBufferPointer, _ place: inout Int) throws(Fault) -> UInt32 {
    guard place + 4 <= text.count else { throw .digits }
    var unit: UInt32 = 0
    for byte in text[place..<place + 4] {
      guard let digit = HexDigits.value(of: byte) else { throw .digits }
      unit = unit << 4 | UInt32(digit)
    }
    place += 4
    return unit
  }
}
