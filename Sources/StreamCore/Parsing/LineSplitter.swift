/// Cuts a stream of chunks into lines, the same lines whatever the cuts of the chunks.
///
/// Feed a chunk, then call `next()` until it gives nil; at the end call `finish()`. A line that lies within
/// one chunk shares its memory.
package struct LineSplitter {
  /// What ends a line.
  package enum Ending: Sendable, Hashable {
    /// LF, and the CR right before it is left out; any other CR is part of the line.
    case lineFeed
    /// LF, CR or CRLF. A CR at the end of a chunk ends its line at once.
    case lineFeedOrCarriageReturn
  }

  private static let lineFeed: UInt8 = 0x0A
  private static let carriageReturn: UInt8 = 0x0D

  private let ending: Ending
  private let limit: Int
  private var chunk = BodyChunk.empty
  /// The start of the current line within the chunk, as an offset.
  private var position = 0
  /// The beginning of a line whose end is in a later chunk.
  private var carried: [UInt8] = []
  /// The last line ended with CR: an LF right after it is part of that ending.
  private var skipsLineFeed = false
  private var failure: HTTPError?

  /// Lines of at most `limit` bytes, their ending not counted.
  package init(ending: Ending = .lineFeed, limit: Int = 1 << 20) {
    self.ending = ending
    self.limit = max(0, limit)
  }

  /// Hands in the next chunk; what is left of the one before is kept.
  package mutating func feed(_ next: BodyChunk) {
    if position < chunk.count {
      // For callers that didn't drain: join both.
      var joined: [UInt8] = []
      chunk.dropFirst(position).append(to: &joined)
      next.append(to: &joined)
      chunk = BodyChunk(joined)
    } else {
      chunk = next
    }
    position = 0
  }

  /// The next line without its ending; nil: more input is wanted.
  ///
  /// Throws `.lineTooLong` as soon as the line must be longer than the limit, and then always.
  package mutating func next() throws(HTTPError) -> BodyChunk? {
    if let failure { throw failure }
    let chunk = chunk
    let found = chunk.withUnsafeBytes { step(in: $0) }
    switch found {
    case .line(let range):
      let start = chunk.startIndex
      let line = chunk[start + range.lowerBound..<start + range.upperBound]
      if carried.isEmpty {
        if line.count > limit { throw tooLong() }
        return line
      }
      return try joined(with: line)
    case .more:
      self.chunk = .empty
      position = 0
      let complete = carried.last == Self.carriageReturn ? carried.count - 1 : carried.count
      if complete > limit { throw tooLong() }
      return nil
    }
  }

  /// The stream has ended: the rest after the last line ending, or nil. For after `next()` has given nil.
  package mutating func finish() throws(HTTPError) -> BodyChunk? {
    if let failure { throw failure }
    guard !carried.isEmpty else { return nil }
    if carried.count > limit { throw tooLong() }
    let line = BodyChunk(carried)
    carried = []
    return line
  }

  private enum Step {
    case line(Range<Int>)
    case more
  }

  /// Finds the end of the current line and moves behind it, or carries what there is of the line.
  private mutating func step(in bytes: UnsafeRawBufferPointer) -> Step {
    if skipsLineFeed && position < bytes.count {
      if bytes[position] == Self.lineFeed { position += 1 }
      skipsLineFeed = false
    }
    let start = position
    let end: Int?
    switch ending {
    case .lineFeed: end = ByteScan.first(Self.lineFeed, in: bytes, from: start)
    case .lineFeedOrCarriageReturn:
      end = ByteScan.first(Self.lineFeed, or: Self.carriageReturn, in: bytes, from: start)
    }
    guard var end else {
      if start < bytes.count {
        carried.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
      }
      position = bytes.count
      return .more
    }
    position = end + 1
    if bytes[end] == Self.carriageReturn {
      if position < bytes.count {
        if bytes[position] == Self.lineFeed { position += 1 }
      } else {
        skipsLineFeed = true
      }
    } else if ending == .lineFeed {
      if end > start {
        if bytes[end - 1] == Self.carriageReturn { end -= 1 }
      } else if carried.last == Self.carriageReturn {
        // A CRLF that was cut apart.
        carried.removeLast()
      }
    }
    return .line(start..<end)
  }

  private mutating func joined(with rest: BodyChunk) throws(HTTPError) -> BodyChunk {
    rest.append(to: &carried)
    if carried.count > limit { throw tooLong() }
    let line = BodyChunk(carried)
    carried.removeAll(keepingCapacity: carried.capacity <= 4 << 10)
    return line
  }

  private mutating func tooLong() -> HTTPError {
    let error = HTTPError(
      .lineTooLong, phase: .decode, message: "a line is longer than \(limit) bytes",
      advice: "Raise the limit on lines if such lines are expected")
    failure = error
    chunk = .empty
    carried = []
    position = 0
    return error
  }
}
