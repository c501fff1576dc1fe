/// Cuts a stream of chunks into lines, the same lines whatever the cuts of the chunks.
///
/// Feed each chunk; at the end call `finish()`. A line that lies within one chunk shares its memory.
package struct LineSplitter: Sendable {
  private static let lineFeed: UInt8 = 0x0A
  private static let carriageReturn: UInt8 = 0x0D

  private let ending: LineEnding
  private let limit: Int
  /// The beginning of a line whose end is in a later chunk.
  private var carried: [UInt8] = []
  /// The last line ended with CR: an LF right after it is part of that ending.
  private var skipsLineFeed = false
  /// Complete lines before the current one.
  private var count: Int64 = 0
  private var failure: HTTPError?

  /// Lines of at most `limit` bytes, their ending not counted.
  package init(ending: LineEnding = .lineFeed, limit: Int = 1 << 20) {
    self.ending = ending
    self.limit = max(0, limit)
  }

  /// Appends the lines that end in this chunk, without their endings.
  ///
  /// Throws `.lineTooLong` as soon as a line must be longer than the limit, after the lines before it were
  /// appended, and then always.
  package mutating func feed(_ chunk: BodyChunk, into lines: inout [BodyChunk]) throws(HTTPError) {
    if let failure { throw failure }
    let before = lines.count
    let isFine = chunk.withUnsafeBytes { split($0, of: chunk, into: &lines) }
    count += Int64(lines.count - before)
    if !isFine { throw tooLong() }
  }

  /// The stream has ended: the rest after the last line ending, or nil.
  package mutating func finish() throws(HTTPError) -> BodyChunk? {
    if let failure { throw failure }
    guard !carried.isEmpty else { return nil }
    if carried.count > limit { throw tooLong() }
    let line = BodyChunk(carried)
    carried = []
    return line
  }

  /// False when a line is too long.
  private mutating func split(
    _ bytes: UnsafeRawBufferPointer, of chunk: BodyChunk, into lines: inout [BodyChunk]
  ) -> Bool {
    let base = chunk.startIndex
    var start = 0
    if skipsLineFeed, let first = bytes.first {
      if first == Self.lineFeed { start = 1 }
      skipsLineFeed = false
    }
    var search = start
    while let end = find(in: bytes, from: search) {
      var stop = end
      var next = end &+ 1
      switch ending {
      case .lineFeed:
        if stop > start {
          if bytes[stop &- 1] == Self.carriageReturn { stop &-= 1 }
        } else if carried.last == Self.carriageReturn {
          // A CRLF that was cut apart.
          carried.removeLast()
        }
      case .carriageReturnLineFeed:
        guard (stop > start ? bytes[stop &- 1] : carried.last) == Self.carriageReturn else {
          search = next
          continue
        }
        if stop > start { stop &-= 1 } else { carried.removeLast() }
      case .any:
        if bytes[end] == Self.carriageReturn {
          if next == bytes.count {
            skipsLineFeed = true
          } else if bytes[next] == Self.lineFeed {
            next &+= 1
          }
        }
      case .carriageReturn, .byte: break
      }
      if carried.isEmpty {
        if stop &- start > limit { return false }
        lines.append(BodyChunk(slab: chunk.slab, range: base &+ start..<base &+ stop))
      } else {
        carried.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<stop]))
        if carried.count > limit { return false }
        lines.append(BodyChunk(carried))
        carried.removeAll(keepingCapacity: carried.capacity <= 4 << 10)
      }
      start = next
      search = next
    }
    if start < bytes.count {
      carried.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
    return carriedForSure <= limit
  }

  /// How much of what is carried belongs to the line, whatever comes.
  private var carriedForSure: Int {
    switch ending {
    case .lineFeed, .carriageReturnLineFeed:
      carried.last == Self.carriageReturn ? carried.count - 1 : carried.count
    case .carriageReturn, .any, .byte: carried.count
    }
  }

  @inline(__always)
  private func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    switch ending {
    case .lineFeed, .carriageReturnLineFeed: ByteScan.first(Self.lineFeed, in: bytes, from: start)
    case .carriageReturn: ByteScan.first(Self.carriageReturn, in: bytes, from: start)
    case .any: ByteScan.first(Self.lineFeed, or: Self.carriageReturn, in: bytes, from: start)
    case .byte(let byte): ByteScan.first(byte, in: bytes, from: start)
    }
  }

  private mutating func tooLong() -> HTTPError {
    let error = HTTPError(
      .lineTooLong, phase: .decode, message: "line \(count + 1) is longer than \(limit) bytes",
      advice: "Raise the limit on lines if such lines are expected")
    failure = error
    carried = []
    return error
  }
}
