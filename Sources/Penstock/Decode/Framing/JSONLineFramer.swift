/// The lines of NDJSON that aren't blank, with their numbers. Only LF ends a line: other separators of Unicode may
/// stand in strings. A byte order mark before the first is passed over (RFC 8259 §8.1).
struct JSONLineFramer: ByteFramer {
  private var splitter: LineSplitter
  private var lines: [BodyChunk] = []
  private var number: Int64 = 0

  init(limit: ByteCount) { splitter = LineSplitter(limit: Int(clamping: limit.bytes)) }

  mutating func feed(_ bytes: BodyChunk, into elements: inout [StreamRecord]) throws(HTTPError) {
    defer { number(into: &elements) }
    try splitter.feed(bytes, into: &lines)
  }

  mutating func finish(into elements: inout [StreamRecord]) throws(HTTPError) {
    if let line = try splitter.finish() { lines.append(line) }
    number(into: &elements)
  }

  private mutating func number(into elements: inout [StreamRecord]) {
    elements.reserveCapacity(elements.count + lines.count)
    if number == 0, let first = lines.first { lines[0] = ByteOrderMark.cut(first) }
    for line in lines {
      number += 1
      if !Self.isBlank(line) { elements.append(StreamRecord(bytes: line, number: number)) }
    }
    lines.removeAll(keepingCapacity: lines.capacity <= 2048)
  }

  static func isBlank(_ line: BodyChunk) -> Bool {
    line.withUnsafeBytes { bytes in
      for byte in bytes where byte != 0x20 && byte != 0x09 && byte != 0x0D { return false }
      return true
    }
  }
}

/// NDJSON checked value by value, and made compact: blanks outside of strings are left out, everything else stays
/// as it came, numbers to their last digit. Blank lines are left out.
public struct CompactJSONLineFramer: ByteFramer {
  private var lines: JSONLineFramer
  private var waiting: [StreamRecord] = []
  private var check = JSONRecord()

  /// Lines of at most `limit`; a longer one throws `HTTPError.Kind.lineTooLong`.
  public init(limit: ByteCount = .mebibytes(16)) { lines = JSONLineFramer(limit: limit) }

  /// Appends the values that end in these bytes. Throws `HTTPError.Kind.invalidRecord` with the number of a line
  /// that isn't one JSON value.
  public mutating func feed(_ bytes: BodyChunk, into elements: inout [BodyChunk]) throws(HTTPError) {
    var failure: HTTPError?
    do throws(HTTPError) { try lines.feed(bytes, into: &waiting) } catch { failure = error }
    try compact(into: &elements)
    if let failure { throw failure }
  }

  /// Appends the value after the last line ending.
  public mutating func finish(into elements: inout [BodyChunk]) throws(HTTPError) {
    try lines.finish(into: &waiting)
    try compact(into: &elements)
  }

  private mutating func compact(into elements: inout [BodyChunk]) throws(HTTPError) {
    defer { waiting.removeAll(keepingCapacity: waiting.capacity <= 2048) }
    for record in waiting {
      do throws(JSONRecord.Fault) {
        elements.append(try check.compacted(record.bytes))
      } catch {
        throw HTTPError(
          .invalidRecord, phase: .decode,
          message: "line \(record.number) is no JSON value, at byte \(error.place + 1): \(error.message)")
      }
    }
  }
}
