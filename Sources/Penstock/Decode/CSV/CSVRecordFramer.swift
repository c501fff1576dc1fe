/// A row as it came, and what it says or why it can't be read.
struct CSVRecord: Sendable {
  let bytes: BodyChunk
  let number: Int64
  let row: Result<CSVRow, HTTPError>
}

/// Rows of CSV of which some may be unreadable, each with its bytes.
struct CSVRecordFramer: ByteFramer {
  private let separator: Unicode.Scalar
  private let hasHeader: Bool
  private let limit: Int
  private var splitter: CSVRowSplitter
  private var pieces: [CSVRowSplitter.Piece] = []
  /// The columns of the file, by its header or else by its first good row.
  private var shape: (columns: Int, header: CSVRow.Header?)?
  private var hasReadHeader = false
  private var number: Int64 = 0

  init(separator: Unicode.Scalar, hasHeader: Bool, limit: ByteCount) {
    self.separator = separator.isASCII ? separator : ","
    self.hasHeader = hasHeader
    self.limit = Int(min(max(0, limit.bytes), 1 << 30))
    splitter = CSVRowSplitter(separator: UInt8(truncatingIfNeeded: self.separator.value), limit: self.limit)
  }

  mutating func feed(_ bytes: BodyChunk, into elements: inout [CSVRecord]) throws(HTTPError) {
    let isFine = splitter.feed(bytes, into: &pieces)
    try read(into: &elements)
    if !isFine {
      throw HTTPError(
        .lineTooLong, phase: .decode, message: "row \(number + 1) of the CSV is larger than \(limit) bytes",
        advice: "Raise the limit on rows if such rows are expected")
    }
  }

  mutating func finish(into elements: inout [CSVRecord]) throws(HTTPError) {
    splitter.finish(into: &pieces)
    try read(into: &elements)
  }

  private mutating func read(into elements: inout [CSVRecord]) throws(HTTPError) {
    defer { pieces.removeAll(keepingCapacity: pieces.capacity <= 2048) }
    for piece in pieces {
      let outcome: Result<CSVRow, HTTPError>
      do throws(HTTPError) {
        let read = try CSVFramer.row(
          piece.bytes, separator: separator, shape: shape, number: number + 1, line: piece.line)
        guard let row = read else { continue }
        if shape == nil { shape = (row.count, nil) }
        outcome = .success(row)
      } catch {
        // An open quotation mark took all that followed into its field: that isn't one bad row.
        if error.kind == .truncated || (hasHeader && !hasReadHeader) { throw error }
        outcome = .failure(error)
      }
      if hasHeader, !hasReadHeader, case .success(let row) = outcome {
        hasReadHeader = true
        shape = (row.count, CSVRow.Header(Array(row)))
        continue
      }
      number += 1
      elements.append(CSVRecord(bytes: piece.bytes, number: number, row: outcome))
    }
  }
}
