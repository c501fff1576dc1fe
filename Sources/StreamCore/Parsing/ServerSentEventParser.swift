/// Parses an event stream (WHATWG HTML §9.2.6), the same events whatever the cuts of the chunks.
///
/// Feed each chunk. An event that isn't closed by an empty line when the stream ends is dropped, as the standard
/// says: there is no `finish()`. Data of one line that lies within one chunk shares its memory.
package struct ServerSentEventParser: Sendable {
  private static let lineFeed: UInt8 = 0x0A
  private static let carriageReturn: UInt8 = 0x0D
  private static let colon = UInt8(ascii: ":")

  /// The data lines so far, without the LF after the last one.
  private enum DataBuffer {
    /// No line: such an event isn't dispatched.
    case none
    /// One line, within the bytes that are being parsed.
    case here(start: Int, end: Int)
    case joined([UInt8])
  }

  private enum Field {
    case data
    case event
    case id
    case retry
    case ignored
  }

  private let limit: Int
  private let lineLimit: Int
  /// The beginning of a line whose end is in a later chunk.
  private var carried: [UInt8] = []
  private var skipsLineFeed = false
  private var isFirstLine = true
  private var data = DataBuffer.none
  private var type: String?
  private var retry: Int64?
  /// The ID buffer of the standard: kept from event to event.
  private var idBuffer: String
  /// What the last event that named its type shares with its like.
  private var label: ServerSentEvent.Label?
  /// What an event that names nothing gets: nothing, or the ID that holds.
  private var plainLabel: ServerSentEvent.Label?
  /// Whether an ID came that `plainLabel` doesn't have.
  private var hasNewID: Bool
  /// How many events were closed.
  private var count: Int64 = 0
  private var failure: HTTPError?

  /// The ID of the last closed event, also of one without data: what a reconnection sends.
  package private(set) var lastEventID: String
  /// How long the server asks to wait before a reconnection, in milliseconds; nil where it didn't.
  package private(set) var reconnectionTime: Int64?

  /// Events of at most `limit` bytes of data (and lines of as much); `lastEventID` from an earlier connection.
  package init(limit: Int = 1 << 20, lastEventID: String = "") {
    self.limit = max(0, limit)
    // A line may hold "data: " besides.
    lineLimit = self.limit.addingClamped(16)
    self.lastEventID = lastEventID
    idBuffer = lastEventID
    hasNewID = !lastEventID.isEmpty
  }

  /// Appends the events that end in this chunk. Throws `.lineTooLong` for an event above the limit, after the
  /// events before it were appended, and then always.
  package mutating func feed(_ chunk: BodyChunk, into events: inout [ServerSentEvent]) throws(HTTPError) {
    if let failure { throw failure }
    let isFine = chunk.withUnsafeBytes { parse($0, of: chunk, into: &events) }
    if !isFine {
      let error = HTTPError(
        .lineTooLong, phase: .decode, message: "server-sent event \(count + 1) is larger than \(limit) bytes",
        advice: "Raise the limit on events if such events are expected")
      failure = error
      carried = []
      data = .none
      throw error
    }
  }

  /// False when a line or an event is too long.
  private mutating func parse(
    _ bytes: UnsafeRawBufferPointer, of chunk: BodyChunk, into events: inout [ServerSentEvent]
  ) -> Bool {
    var start = 0
    if skipsLineFeed, let first = bytes.first {
      if first == Self.lineFeed { start = 1 }
      skipsLineFeed = false
    }
    while start < bytes.count {
      // Every second line of most streams.
      if bytes[start] == Self.lineFeed, carried.isEmpty, !isFirstLine {
        dispatch(chunk, into: &events)
        start &+= 1
        continue
      }
      guard let end = ByteScan.first(Self.lineFeed, or: Self.carriageReturn, in: bytes, from: start) else {
        break
      }
      if carried.isEmpty {
        if let next = takeWhole(bytes, from: start, to: end, of: chunk, into: &events) {
          start = next
          continue
        }
        if end == start, !isFirstLine {
          dispatch(chunk, into: &events)
        } else if !take(line: bytes, from: start, to: end, of: chunk, into: &events) {
          return false
        }
      } else {
        carried.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        let line = carried
        carried = []
        let isFine = line.withUnsafeBytes { line in
          let isFine = take(line: line, from: 0, to: line.count, of: chunk, into: &events)
          settle(line)
          return isFine
        }
        if !isFine { return false }
      }
      start = end &+ 1
      if bytes[end] == Self.carriageReturn {
        if start == bytes.count {
          skipsLineFeed = true
        } else if bytes[start] == Self.lineFeed {
          start &+= 1
        }
      }
    }
    settle(bytes)
    if start < bytes.count {
      carried.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
    return carried.count <= lineLimit
  }

  /// Takes an event that is one line of data and an empty one, all of it here, as most are: where it ends, or nil for
  /// anything else.
  @inline(__always)
  private mutating func takeWhole(
    _ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int, of chunk: BodyChunk,
    into events: inout [ServerSentEvent]
  ) -> Int? {
    guard end &- start >= 5, end &+ 1 < bytes.count,
      bytes.loadUnaligned(fromByteOffset: end, as: UInt16.self) == 0x0A0A,
      bytes[start &+ 4] == Self.colon,
      bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self) == Self.dataWord,
      case .none = data, type == nil, retry == nil, !hasNewID, !isFirstLine
    else { return nil }
    let content = start &+ (end &- start > 5 && bytes[start &+ 5] == UInt8(ascii: " ") ? 6 : 5)
    guard end &- content <= limit else { return nil }
    count &+= 1
    let base = chunk.startIndex
    let range = base &+ content..<base &+ end
    events.append(ServerSentEvent(label: plainLabel, bytes: BodyChunk(slab: chunk.slab, range: range)))
    return end &+ 2
  }

  /// Copies data that lies in bytes which are about to go.
  private mutating func settle(_ bytes: UnsafeRawBufferPointer) {
    if case .here(let start, let end) = data {
      data = .joined(Array(UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
    }
  }

  /// False when it is too long.
  private mutating func take(
    line bytes: UnsafeRawBufferPointer, from begin: Int, to end: Int, of chunk: BodyChunk,
    into events: inout [ServerSentEvent]
  ) -> Bool {
    var start = begin
    if end &- start > lineLimit { return false }
    if isFirstLine {
      isFirstLine = false
      if end &- start >= 3, bytes[start] == 0xEF, bytes[start &+ 1] == 0xBB, bytes[start &+ 2] == 0xBF {
        start &+= 3
      }
    }
    if start == end {
      dispatch(chunk, into: &events)
      return true
    }
    let (field, skipped) = Self.split(bytes, from: start, to: end)
    start &+= skipped
    switch field {
    case .data: return append(bytes, from: start, to: end)
    case .event:
      if end &- start > limit { return false }
      type = typeText(bytes, start, end)
    case .id:
      if end &- start > limit { return false }
      if ByteScan.first(0, in: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), from: 0) == nil {
        idBuffer = Self.text(bytes, start, end)
        hasNewID = true
      }
    case .retry:
      if let time = DecimalDigits.value(bytes[start..<end]) {
        reconnectionTime = time
        retry = time
      }
    case .ignored: break
    }
    return true
  }

  /// False when the event is too long.
  private mutating func append(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Bool {
    switch data {
    case .none:
      data = .here(start: start, end: end)
      return end &- start <= limit
    case .here(let first, let last):
      var joined: [UInt8] = []
      joined.reserveCapacity(2 &* (last &- first &+ end &- start))
      joined.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[first..<last]))
      return append(bytes, from: start, to: end, joining: joined)
    case .joined(let joined):
      // Taken out of the enum first, so that the array is grown in place.
      data = .none
      return append(bytes, from: start, to: end, joining: joined)
    }
  }

  private mutating func append(
    _ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int, joining before: consuming [UInt8]
  ) -> Bool {
    var joined = before
    if joined.count.addingClamped(end &- start &+ 1) > limit { return false }
    joined.append(Self.lineFeed)
    joined.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    data = .joined(joined)
    return true
  }

  /// An empty line: the end of an event.
  @inline(__always)
  private mutating func dispatch(_ chunk: BodyChunk, into events: inout [ServerSentEvent]) {
    let content: BodyChunk
    switch data {
    case .none:
      forget()
      return
    case .here(let start, let end):
      let base = chunk.startIndex
      content = BodyChunk(slab: chunk.slab, range: base &+ start..<base &+ end)
    case .joined(let bytes): content = BodyChunk(bytes)
    }
    data = .none
    count &+= 1
    if type == nil, retry == nil, !hasNewID {
      events.append(ServerSentEvent(label: plainLabel, bytes: content))
      return
    }
    events.append(ServerSentEvent(label: currentLabel(), bytes: content))
    forget()
  }

  private mutating func currentLabel() -> ServerSentEvent.Label? {
    if type == nil, retry == nil {
      if hasNewID {
        plainLabel =
          idBuffer.isEmpty ? nil : ServerSentEvent.Label(type: "message", id: idBuffer, retry: nil)
        hasNewID = false
      }
      return plainLabel
    }
    let name = type.flatMap { $0.isEmpty ? nil : $0 } ?? "message"
    // Streams name the same type again and again.
    if let label, label.type == name, label.id == idBuffer, label.retry == retry { return label }
    let fresh = ServerSentEvent.Label(type: name, id: idBuffer, retry: retry)
    label = fresh
    return fresh
  }

  private mutating func forget() {
    lastEventID = idBuffer
    type = nil
    retry = nil
  }

  /// The field that a line names, and how many bytes stand before its value.
  @inline(__always)
  private static func split(_ line: UnsafeRawBufferPointer, from start: Int, to end: Int) -> (Field, Int) {
    // By far the most common one, in one comparison.
    if end &- start >= 5, line[start &+ 4] == colon,
      line.loadUnaligned(fromByteOffset: start, as: UInt32.self) == dataWord
    {
      return (.data, end &- start > 5 && line[start &+ 5] == UInt8(ascii: " ") ? 6 : 5)
    }
    // The longest known name has five letters: a colon further on belongs to an unknown one.
    var stop = start
    while stop < end && stop < start &+ 6 && line[stop] != colon { stop &+= 1 }
    if stop == start &+ 6 { return (.ignored, 0) }
    let length = stop &- start
    var skipped = length
    if stop < end {
      skipped &+= 1
      if stop &+ 1 < end && line[stop &+ 1] == UInt8(ascii: " ") { skipped &+= 1 }
    }
    return (field(line, from: start, length: length), skipped)
  }

  private static let dataWord = UInt32(littleEndian: 0x6174_6164)

  /// The field of a name of so many bytes. Compared byte by byte: this runs for every line.
  private static func field(_ line: UnsafeRawBufferPointer, from start: Int, length: Int) -> Field {
    func isNamed(_ name: StaticString) -> Bool {
      for index in 0..<length where line[start &+ index] != name.utf8Start[index] { return false }
      return true
    }
    switch length {
    case 2: return isNamed("id") ? .id : .ignored
    case 4: return isNamed("data") ? .data : .ignored
    case 5: return isNamed("event") ? .event : isNamed("retry") ? .retry : .ignored
    default: return .ignored
    }
  }

  /// The type that a line names: mostly that of the event before, whose text is shared.
  private func typeText(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> String {
    guard let known = label?.type, known.utf8.count == end &- start else {
      return Self.text(bytes, start, end)
    }
    let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    let isSame = known.utf8.withContiguousStorageIfAvailable { known in
      for index in 0..<known.count where known[index] != line[index] { return false }
      return true
    }
    return isSame == true ? known : Self.text(bytes, start, end)
  }

  private static func text(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
  }
}

extension Int {
  /// The sum, or the largest number where it doesn't fit.
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
