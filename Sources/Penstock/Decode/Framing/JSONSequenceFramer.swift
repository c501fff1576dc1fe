/// The texts of a JSON text sequence (RFC 7464): each begins with RS and ends with LF.
struct JSONSequenceFramer: ByteFramer {
  private var splitter: LineSplitter
  private var texts: [BodyChunk] = []
  private var number: Int64 = 0
  /// What stands before the first RS.
  private var isBefore = true

  init(limit: ByteCount) {
    splitter = LineSplitter(ending: .byte(0x1E), limit: Int(clamping: limit.bytes))
  }

  mutating func feed(_ bytes: BodyChunk, into elements: inout [StreamRecord]) throws(HTTPError) {
    var failure: HTTPError?
    do throws(HTTPError) { try splitter.feed(bytes, into: &texts) } catch { failure = error }
    try take(into: &elements)
    if let failure { throw failure }
  }

  mutating func finish(into elements: inout [StreamRecord]) throws(HTTPError) {
    if let text = try splitter.finish() { texts.append(text) }
    try take(into: &elements)
  }

  private mutating func take(into elements: inout [StreamRecord]) throws(HTTPError) {
    defer { texts.removeAll(keepingCapacity: texts.capacity <= 2048) }
    for text in texts {
      if isBefore {
        isBefore = false
        guard JSONLineFramer.isBlank(text) else {
          throw HTTPError(
            .invalidRecord, phase: .decode, message: "a JSON text sequence begins with RS (0x1E)",
            advice: "Read newline-delimited JSON with jsonLines")
        }
      } else if !text.isEmpty {
        // Several RS in a row are one (RFC 7464 §2.1).
        number += 1
        elements.append(StreamRecord(bytes: text, number: number))
      }
    }
  }

  /// Whether a text may be the beginning of one that was cut off: numbers and words have an end only where a
  /// blank follows (RFC 7464 §2.4).
  static func mayBeCut(_ text: BodyChunk) -> Bool {
    text.withUnsafeBytes { bytes in
      guard let last = bytes.last, last > 0x20, let first = bytes.first(where: { $0 > 0x20 }) else {
        return false
      }
      return first != UInt8(ascii: "{") && first != UInt8(ascii: "[") && first != UInt8(ascii: "\"")
    }
  }
}
