/// Whether bytes are UTF-8 (RFC 3629).
package enum UTF8Check {
  /// The first byte that begins no character; nil when all is well.
  package static func firstInvalid(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var index = 0
    while let start = ByteScan.firstNonASCII(in: bytes, from: index) {
      let length = length(bytes, at: start)
      if length == 0 { return start }
      index = start + length
    }
    return nil
  }

  /// How long the character of more than one byte is that begins here; 0 for none.
  private static func length(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Int {
    let first = bytes[start]
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, first <= 0xF4, start + length <= bytes.count else { return 0 }
    for index in start + 1..<start + length where bytes[index] & 0xC0 != 0x80 { return 0 }
    let second = bytes[start + 1]
    switch first {
    case 0xE0: return second >= 0xA0 ? length : 0
    case 0xED: return second < 0xA0 ? length : 0
    case 0xF0: return second >= 0x90 ? length : 0
    case 0xF4: return second < 0x90 ? length : 0
    default: return length
    }
  }
}
