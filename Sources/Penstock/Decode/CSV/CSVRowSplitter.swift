/// Cuts CSV into rows without reading them, so that one that can't be read leaves the others alone. A quotation mark
/// counts where a field begins and in a field that began with one; anywhere else it is text.
struct CSVRowSplitter: Sendable {
  /// A row as it came, without its line ending.
  struct Piece: Sendable {
    let bytes: BodyChunk
    /// The line that it begins in, from 1.
    let line: Int64
  }

  private enum State: Sendable {
    case fieldStart
    case plain
    case quoted
    /// Behind a quotation mark in a quoted field: its end, or the first of two.
    case quote
  }

  private let separator: UInt8
  private let limit: Int
  private var state = State.fieldStart
  /// How many bytes of a byte order mark have come; nil once it is known whether there is one.
  private var mark: Int? = 0
  private var skipsLineFeed = false
  private var line: Int64 = 1
  private var firstLine: Int64 = 1
  /// The beginning of a row whose end is in a later chunk.
  private var carried: [UInt8] = []
  private var isFirst = true

  init(separator: UInt8, limit: Int) {
    self.separator = separator
    self.limit = limit
  }

  /// Appends the rows that end in this chunk. False when one is larger than the limit.
  mutating func feed(_ chunk: BodyChunk, into pieces: inout [Piece]) -> Bool {
    var start = chunk.startIndex
    var isFine = true
    chunk.withUnsafeBytes { bytes in
      for (index, byte) in bytes.enumerated() {
        let place = chunk.startIndex + index
        if skipsLineFeed {
          skipsLineFeed = false
          if byte == 0x0A {
            start = place + 1
            continue
          }
        }
        if isPartOfMark(byte) { continue }
        guard ends(byte) else { continue }
        skipsLineFeed = byte == 0x0D
        isFine = take(chunk[start..<place], into: &pieces)
        if !isFine { return }
        line += 1
        firstLine = line
        state = .fieldStart
        start = place + 1
      }
    }
    guard isFine else { return false }
    if start < chunk.endIndex { chunk[start..<chunk.endIndex].append(to: &carried) }
    return carried.count <= limit
  }

  /// Appends the row after the last line ending.
  mutating func finish(into pieces: inout [Piece]) { _ = take(.empty, into: &pieces) }

  private mutating func isPartOfMark(_ byte: UInt8) -> Bool {
    guard let count = mark else { return false }
    if byte == ByteOrderMark.bytes[count] {
      mark = count == 2 ? nil : count + 1
      return true
    }
    mark = nil
    // What looked like its beginning is content.
    if count > 0 { state = .plain }
    return false
  }

  /// Whether a byte ends the row.
  private mutating func ends(_ byte: UInt8) -> Bool {
    switch state {
    case .quoted:
      if byte == UInt8(ascii: "\"") { state = .quote } else if byte == 0x0A { line += 1 }
      return false
    case .quote where byte == UInt8(ascii: "\""):
      state = .quoted
      return false
    case .fieldStart where byte == UInt8(ascii: "\""):
      state = .quoted
      return false
    case .fieldStart, .plain, .quote:
      if byte == 0x0A || byte == 0x0D { return true }
      state = byte == separator ? .fieldStart : .plain
      return false
    }
  }

  private mutating func take(_ rest: BodyChunk, into pieces: inout [Piece]) -> Bool {
    var row = rest
    if !carried.isEmpty {
      rest.append(to: &carried)
      row = BodyChunk(carried)
      carried.removeAll(keepingCapacity: carried.capacity <= 4 << 10)
    }
    if isFirst {
      isFirst = false
      row = ByteOrderMark.cut(row)
    }
    if row.count > limit { return false }
    // A line without anything is no row.
    if !row.isEmpty { pieces.append(Piece(bytes: row, line: firstLine)) }
    return true
  }
}
