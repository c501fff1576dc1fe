/// Rows of CSV (RFC 4180): fields between separators, in quotation marks where they hold separators, line ends or
/// quotation marks, which are doubled then. LF, CRLF and CR end a row.
///
/// A quotation mark inside of a field that isn't quoted, text behind the closing one, and a quoted field without an end
/// are errors, as are rows that don't have as many fields as the first: damaged files are better noticed.
public struct CSVFramer: ByteFramer {
  private enum State: Sendable {
    case rowStart
    case fieldStart
    case plain
    case quoted
    /// Behind a quotation mark in a quoted field: its end, or the first of two.
    case quote
  }

  private let separator: UInt8
  private let hasHeader: Bool
  private let limit: Int
  private var state = State.rowStart
  private var skipsLineFeed = false
  /// How many bytes of a byte order mark have come; nil once it is known whether there is one.
  private var mark: Int? = 0
  private var bytes: [UInt8] = []
  private var ends: [Int32] = []
  private var header: CSVRow.Header?
  private var hasReadHeader = false
  private var columns: Int?
  private var number: Int64 = 0
  private var line: Int64 = 1
  private var firstLine: Int64 = 1

  /// Rows of a CSV file.
  ///
  /// - Parameters:
  ///   - separator: what stands between fields: ";" and tabs are common too. One ASCII character.
  ///   - hasHeader: whether the first row has the names of the columns; it is no row then.
  ///   - limit: the largest row; a larger one throws `HTTPError.Kind.lineTooLong`.
  public init(
    separator: Unicode.Scalar = ",", hasHeader: Bool = false, limit: ByteCount = .mebibytes(1)
  ) {
    self.separator = separator.isASCII ? UInt8(separator.value) : UInt8(ascii: ",")
    self.hasHeader = hasHeader
    self.limit = Int(min(max(0, limit.bytes), 1 << 30))
  }

  /// Reads one row that was cut out of a file.
  ///
  /// - Parameters:
  ///   - shape: the columns of the file, where they are known.
  ///   - number: the row's number.
  ///   - line: the line that it begins in.
  static func row(
    _ bytes: BodyChunk, separator: Unicode.Scalar, shape: (columns: Int, header: CSVRow.Header?)?,
    number: Int64, line: Int64
  ) throws(HTTPError) -> CSVRow? {
    var framer = CSVFramer(separator: separator, limit: .gibibytes(1))
    framer.mark = nil
    framer.columns = shape?.columns
    framer.header = shape?.header
    framer.number = number - 1
    framer.line = line
    var rows: [CSVRow] = []
    try framer.feed(bytes, into: &rows)
    try framer.finish(into: &rows)
    return rows.first
  }

  /// Appends the rows that end in these bytes.
  public mutating func feed(_ chunk: BodyChunk, into elements: inout [CSVRow]) throws(HTTPError) {
    try chunk.withUnsafeBytes { (input) throws(HTTPError) in
      var index = 0
      while index < input.count {
        let byte = input[index]
        if let count = mark {
          if byte == ByteOrderMark.bytes[count] {
            mark = count == 2 ? nil : count + 1
            index += 1
            continue
          }
          try noMark(into: &elements)
        }
        if skipsLineFeed {
          skipsLineFeed = false
          if byte == 0x0A {
            index += 1
            continue
          }
        }
        switch state {
        case .plain:
          // A run of plain bytes at once.
          let start = index
          while index < input.count, !isSpecial(input[index]) { index += 1 }
          bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[start..<index]))
          if index < input.count {
            try special(input[index], into: &elements)
            index += 1
          }
        case .quoted:
          let start = index
          while index < input.count, input[index] != UInt8(ascii: "\"") {
            if input[index] == 0x0A { line += 1 }
            index += 1
          }
          bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[start..<index]))
          if index < input.count {
            state = .quote
            index += 1
          }
        case .rowStart, .fieldStart, .quote:
          try take(byte, into: &elements)
          index += 1
        }
        if isTooLarge { throw tooLarge }
      }
    }
  }

  /// Appends the row after the last line ending.
  public mutating func finish(into elements: inout [CSVRow]) throws(HTTPError) {
    try noMark(into: &elements)
    switch state {
    case .rowStart: return
    case .quoted:
      throw fault(.truncated, "the file ends inside of a quoted field")
    case .fieldStart, .plain, .quote: try endRow(into: &elements)
    }
  }

  /// What looked like the beginning of a byte order mark is content.
  private mutating func noMark(into elements: inout [CSVRow]) throws(HTTPError) {
    let count = mark ?? 0
    mark = nil
    for byte in ByteOrderMark.bytes[..<count] {
      if state == .plain { bytes.append(byte) } else { try take(byte, into: &elements) }
    }
  }

  private func isSpecial(_ byte: UInt8) -> Bool {
    byte == separator || byte == 0x0A || byte == 0x0D || byte == UInt8(ascii: "\"")
  }

  private mutating func take(_ byte: UInt8, into elements: inout [CSVRow]) throws(HTTPError) {
    if state == .quote {
      if byte == UInt8(ascii: "\"") {
        bytes.append(byte)
        state = .quoted
      } else if isSpecial(byte) {
        try special(byte, into: &elements)
      } else {
        throw fault(.invalidRecord, "text follows the closing quotation mark of a field")
      }
      return
    }
    if state == .rowStart { firstLine = line }
    if byte == UInt8(ascii: "\"") {
      state = .quoted
    } else if isSpecial(byte) {
      try special(byte, into: &elements)
    } else {
      bytes.append(byte)
      state = .plain
    }
  }

  private mutating func special(_ byte: UInt8, into elements: inout [CSVRow]) throws(HTTPError) {
    switch byte {
    case separator:
      ends.append(Int32(bytes.count))
      state = .fieldStart
    case UInt8(ascii: "\""):
      throw fault(.invalidRecord, "a quotation mark stands inside of a field without any")
    default:
      skipsLineFeed = byte == 0x0D
      // A line without anything is no row.
      if state != .rowStart { try endRow(into: &elements) }
      line += 1
    }
  }

  private mutating func endRow(into elements: inout [CSVRow]) throws(HTTPError) {
    ends.append(Int32(bytes.count))
    if isTooLarge { throw tooLarge }
    state = .rowStart
    if let columns, columns != ends.count {
      throw fault(.invalidRecord, "it has \(ends.count) fields where the first row has \(columns)")
    }
    columns = ends.count
    if hasHeader, !hasReadHeader {
      hasReadHeader = true
      header = CSVRow.Header(
        Array(CSVRow(bytes: bytes, ends: ends, header: nil, number: 0, line: firstLine)))
    } else {
      number += 1
      elements.append(CSVRow(bytes: bytes, ends: ends, header: header, number: number, line: firstLine))
    }
    bytes = []
    ends = []
    ends.reserveCapacity(columns ?? 0)
  }

  private var isTooLarge: Bool { bytes.count > limit || ends.count > limit + 1 }

  private var tooLarge: HTTPError {
    HTTPError(
      .lineTooLong, phase: .decode, message: "row \(number + 1) of the CSV is larger than \(limit) bytes",
      advice: "Raise the limit on rows if such rows are expected")
  }

  private func fault(_ kind: HTTPError.Kind, _ what: String) -> HTTPError {
    // The same error whatever the cuts of the chunks.
    if isTooLarge { return tooLarge }
    return HTTPError(
      kind, phase: .decode,
      message: "row \(number + 1) of the CSV, in line \(firstLine), can't be read: \(what)")
  }
}
