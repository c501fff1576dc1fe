/// Parses an event stream (WHATWG HTML §9.2.6), the same events whatever the cuts of the chunks.
///
/// Feed a chunk, then call `next()` until it gives nil. An event that isn't closed by an empty line when the
/// stream ends is dropped, as the standard says: there is no `finish()`.
package struct ServerSentEventParser {
  private static let colon = UInt8(ascii: ":")
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The data lines so far, without the LF after the last one.
  private enum DataBuffer {
    /// No line: such an event isn't dispatched.
    case none
    /// One line, not copied.
    case line(BodyChunk)
    case joined([UInt8])

    var count: Int {
      switch self {
      case .none: 0
      case .line(let line): line.count
      case .joined(let bytes): bytes.count
      }
    }
  }

  private enum Field {
    case data
    case event
    case id
    case retry
    case ignored
  }

  private var lines: LineSplitter
  private let limit: Int
  private var isFirstLine = true
  private var data = DataBuffer.none
  private var type = ""
  /// The ID buffer of the standard: kept from event to event.
  private var idBuffer = ""
  private var failure: HTTPError?

  /// The ID of the last closed event, also of one without data: what a reconnection sends.
  package private(set) var lastEventID: String
  /// How long the server asks to wait before a reconnection, in milliseconds; nil where it didn't.
  package private(set) var reconnectionTime: Int64?

  /// Events of at most `limit` bytes of data (and lines of as much); `lastEventID` from an earlier connection.
  package init(limit: Int = 1 << 20, lastEventID: String = "") {
    self.limit = max(0, limit)
    // A line may hold "data: " besides.
    lines = LineSplitter(ending: .lineFeedOrCarriageReturn, limit: self.limit.addingClamped(16))
    self.lastEventID = lastEventID
    idBuffer = lastEventID
  }

  /// Hands in the next chunk.
  package mutating func feed(_ chunk: BodyChunk) { lines.feed(chunk) }

  /// The next event; nil: more input is wanted. Throws `.lineTooLong` for an event above the limit.
  package mutating func next() throws(HTTPError) -> ServerSentEvent? {
    if let failure { throw failure }
    do throws(HTTPError) {
      while var line = try lines.next() {
        if isFirstLine {
          isFirstLine = false
          if line.starts(with: Self.byteOrderMark) { line = line.dropFirst(3) }
        }
        if line.isEmpty {
          if let event = dispatch() { return event }
        } else {
          try interpret(line)
        }
      }
    } catch {
      failure = error
      throw error
    }
    // What waits for the rest of its event must not hold back a large block.
    if case .line(let line) = data { data = .line(line.compacted()) }
    return nil
  }

  private mutating func dispatch() -> ServerSentEvent? {
    lastEventID = idBuffer
    defer {
      data = .none
      type = ""
    }
    let text: String
    switch data {
    case .none: return nil
    case .line(let line): text = Self.text(line)
    case .joined(let bytes): text = String(decoding: bytes, as: UTF8.self)
    }
    return ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: lastEventID)
  }

  private mutating func interpret(_ line: BodyChunk) throws(HTTPError) {
    let (field, skipped) = line.withUnsafeBytes { Self.split($0) }
    let value = line.dropFirst(skipped)
    switch field {
    case .data: try append(value)
    case .event:
      try check(value.count)
      type = Self.text(value)
    case .id:
      try check(value.count)
      if !value.contains(0) { idBuffer = Self.text(value) }
    case .retry:
      if let time = DecimalDigits.value(value) { reconnectionTime = time }
    case .ignored: return
    }
  }

  private mutating func append(_ value: BodyChunk) throws(HTTPError) {
    switch data {
    case .none:
      try check(value.count)
      data = .line(value)
    case .line(let first):
      try check(first.count.addingClamped(value.count + 1))
      var bytes: [UInt8] = []
      bytes.reserveCapacity(2 * (first.count + value.count))
      first.append(to: &bytes)
      bytes.append(0x0A)
      value.append(to: &bytes)
      data = .joined(bytes)
    case .joined(var bytes):
      try check(bytes.count.addingClamped(value.count + 1))
      // Taken out of the enum first, so that the array is grown in place.
      data = .none
      bytes.append(0x0A)
      value.append(to: &bytes)
      data = .joined(bytes)
    }
  }

  private func check(_ count: Int) throws(HTTPError) {
    guard count > limit else { return }
    throw HTTPError(
      .lineTooLong, phase: .decode, message: "a server-sent event is larger than \(limit) bytes",
      advice: "Raise the limit on events if such events are expected")
  }

  /// The field that a line names, and how many bytes stand before its value.
  private static func split(_ line: UnsafeRawBufferPointer) -> (Field, Int) {
    // The longest known name has five letters: a colon further on belongs to an unknown one.
    var end = 0
    while end < line.count && end < 6 && line[end] != colon { end += 1 }
    if end == 6 { return (.ignored, 0) }
    var skipped = end
    if end < line.count {
      skipped += 1
      if skipped < line.count && line[skipped] == UInt8(ascii: " ") { skipped += 1 }
    }
    return (field(line, length: end), skipped)
  }

  /// The field of a name of so many bytes. Compared byte by byte: this runs for every line.
  private static func field(_ line: UnsafeRawBufferPointer, length: Int) -> Field {
    func isNamed(_ name: StaticString) -> Bool {
      for index in 0..<length where line[index] != name.utf8Start[index] { return false }
      return true
    }
    switch length {
    case 2: return isNamed("id") ? .id : .ignored
    case 4: return isNamed("data") ? .data : .ignored
    case 5: return isNamed("event") ? .event : isNamed("retry") ? .retry : .ignored
    default: return .ignored
    }
  }

  private static func text(_ bytes: BodyChunk) -> String {
    bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}

extension Int {
  /// The sum, or the largest number where it doesn't fit.
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
