/// UTF-8 that comes in pieces, made into strings: a character cut by the end of a piece waits for its rest, and
/// what isn't UTF-8 becomes U+FFFD.
struct IncrementalText {
  private var held: [UInt8] = []

  /// The text that is complete with this piece.
  mutating func append(_ bytes: some Sequence<UInt8>) -> String {
    held += bytes
    let complete = held.count - Self.openTail(of: held)
    let text = String(decoding: held[..<complete], as: UTF8.self)
    held.removeSubrange(..<complete)
    return text
  }

  /// What was left: the beginning of a character whose end never came.
  mutating func finish() -> String {
    defer { held = [] }
    return String(decoding: held, as: UTF8.self)
  }

  /// How many bytes at the end begin a character that isn't complete.
  private static func openTail(of bytes: [UInt8]) -> Int {
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > back ? back : 0
    }
    return 0
  }
}
