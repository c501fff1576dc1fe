/// An incremental parser of HTTP/1.x requests, pipelined ones too. What comes out does not depend on how the
/// bytes were cut, except for the cuts of the body.
struct RequestParser {
  struct Head: Hashable {
    var method: String
    var target: String
    var version: String
    var fields: [RecordedField]
    var bytes: [UInt8]
    /// Whether the client asks for the connection to stay open.
    var keepsAlive: Bool
    /// Whether the client waits for `100 Continue`.
    var expectsContinue: Bool
  }

  enum Output: Hashable {
    case head(Head)
    /// Bytes of the body.
    case content(ArraySlice<UInt8>)
    /// Bytes between those of the body: chunk sizes, line ends, trailers.
    case framing(ArraySlice<UInt8>)
    case end(trailers: [RecordedField])
  }

  private enum State {
    case head
    case length(remaining: Int)
    case chunkSize
    case chunk(remaining: Int)
    case chunkEnd
    case trailers([RecordedField])
    case end(trailers: [RecordedField])
    case failed(TestServerError)
  }

  private static let headLimit = 4 << 20
  private static let lineLimit = 64 << 10

  private var state = State.head
  private var buffer: [UInt8] = []
  private var start = 0
  /// Up to here no end of the head was found.
  private var scanned = 0

  /// Whether bytes wait that belong to no finished request.
  var isEmpty: Bool { start == buffer.count }

  /// Whether the parser stands between two requests.
  var isBetweenRequests: Bool {
    if case .head = state { isEmpty } else { false }
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: true)
      (start, scanned) = (0, 0)
    } else if start > 64 << 10 {
      buffer.removeFirst(start)
      (start, scanned) = (0, max(0, scanned - start))
    }
    buffer.append(contentsOf: bytes)
  }

  /// Takes bytes out unparsed, whatever they mean.
  mutating func takeRaw(upTo count: Int) -> [UInt8] {
    let end = min(buffer.count, start + count)
    defer { start = end }
    return Array(buffer[start..<end])
  }

  /// The next part, or nil if more bytes are needed.
  mutating func next() throws(TestServerError) -> Output? {
    switch state {
    case .head:
      return try nextHead()
    case .length(let remaining):
      guard remaining > 0 else {
        state = .head
        return .end(trailers: [])
      }
      guard let content = takeContent(remaining) else { return nil }
      state = .length(remaining: remaining - content.count)
      return .content(content)
    case .chunkSize:
      guard let line = try takeLine() else { return nil }
      let digits = line.dropLast(2).prefix { $0 != UInt8(ascii: ";") }
      let text = String(decoding: digits, as: UTF8.self).trimmedBlanks
      guard text.first?.isHexDigit == true, let size = Int(text, radix: 16) else {
        throw fail("chunk size \"\(text)\"")
      }
      state = size == 0 ? .trailers([]) : .chunk(remaining: size)
      return .framing(line)
    case .chunk(let remaining):
      guard let content = takeContent(remaining) else { return nil }
      state = content.count == remaining ? .chunkEnd : .chunk(remaining: remaining - content.count)
      return .content(content)
    case .chunkEnd:
      guard let line = try takeLine() else { return nil }
      guard line.count == 2 else { throw fail("no line end behind a chunk") }
      state = .chunkSize
      return .framing(line)
    case .trailers(let fields):
      return try nextTrailer(after: fields)
    case .end(let trailers):
      state = .head
      return .end(trailers: trailers)
    case .failed(let error):
      throw error
    }
  }

  private mutating func nextTrailer(after fields: [RecordedField]) throws(TestServerError) -> Output? {
    guard let line = try takeLine() else { return nil }
    if line.count == 2 {
      state = .end(trailers: fields)
    } else {
      state = .trailers(fields + [try parseField(line.dropLast(2))])
    }
    return .framing(line)
  }

  private mutating func nextHead() throws(TestServerError) -> Output? {
    if scanned < start { scanned = start }
    guard let end = endOfHead() else {
      if buffer.count - start > Self.headLimit { throw fail("head too long") }
      return nil
    }
    let bytes = buffer[start..<end]
    start = end
    scanned = end
    let head = try parseHead(bytes)
    return .head(head)
  }

  private mutating func endOfHead() -> Int? {
    var index = max(start, scanned - 3)
    let last = buffer.count - 3
    while index < last {
      if buffer[index] == 13, buffer[index + 1] == 10, buffer[index + 2] == 13, buffer[index + 3] == 10 {
        return index + 4
      }
      index += 1
    }
    scanned = buffer.count
    return nil
  }

  private mutating func parseHead(_ bytes: ArraySlice<UInt8>) throws(TestServerError) -> Head {
    var lines: [ArraySlice<UInt8>] = []
    var rest = bytes.dropLast(2)
    while let end = rest.firstIndex(of: 10) {
      guard end > rest.startIndex, rest[end - 1] == 13 else { throw fail("line without CR") }
      lines.append(rest[rest.startIndex..<(end - 1)])
      rest = rest[(end + 1)...]
    }
    let words = (lines.first ?? []).split(separator: 32, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), !words[0].isEmpty, !words[1].isEmpty else {
      throw fail("request line \"\(words.joined(separator: " "))\"")
    }
    var fields: [RecordedField] = []
    for line in lines.dropFirst() { fields.append(try parseField(line)) }
    state = try framing(of: fields)
    let connection = fields.filter { $0.name.lowercased() == "connection" }.map { $0.value.lowercased() }
    let keepsAlive =
      words[2] == "HTTP/1.0"
      ? connection.contains { $0.contains("keep-alive") } : !connection.contains { $0.contains("close") }
    let expectsContinue = fields.contains {
      $0.name.lowercased() == "expect" && $0.value.lowercased() == "100-continue"
    }
    return Head(
      method: words[0], target: words[1], version: words[2], fields: fields, bytes: Array(bytes),
      keepsAlive: keepsAlive, expectsContinue: expectsContinue)
  }

  private mutating func framing(of fields: [RecordedField]) throws(TestServerError) -> State {
    let codings = fields.filter { $0.name.lowercased() == "transfer-encoding" }.map { $0.value.lowercased() }
    let lengths = Set(fields.filter { $0.name.lowercased() == "content-length" }.map(\.value))
    if let coding = codings.last {
      guard coding.hasSuffix("chunked") else { throw fail("transfer coding \"\(coding)\"") }
      guard lengths.isEmpty else { throw fail("both content-length and transfer-encoding") }
      return .chunkSize
    }
    guard lengths.count <= 1 else { throw fail("conflicting content-length") }
    guard let text = lengths.first else { return .length(remaining: 0) }
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text) else {
      throw fail("content-length \"\(text)\"")
    }
    return .length(remaining: length)
  }

  private mutating func parseField(_ line: ArraySlice<UInt8>) throws(TestServerError) -> RecordedField {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
      throw fail("field \"\(String(decoding: line, as: UTF8.self))\"")
    }
    return RecordedField(
      name: String(decoding: line[..<colon], as: UTF8.self),
      value: String(decoding: line[(colon + 1)...], as: UTF8.self).trimmedBlanks)
  }

  private mutating func takeContent(_ remaining: Int) -> ArraySlice<UInt8>? {
    let count = min(remaining, buffer.count - start)
    guard count > 0 else { return nil }
    defer { start += count }
    return buffer[start..<(start + count)]
  }

  /// The next line with its CRLF.
  private mutating func takeLine() throws(TestServerError) -> ArraySlice<UInt8>? {
    guard let end = buffer[start...].firstIndex(of: 10) else {
      if buffer.count - start > Self.lineLimit { throw fail("line too long") }
      return nil
    }
    guard end > start, buffer[end - 1] == 13 else { throw fail("line without CR") }
    defer { start = end + 1 }
    return buffer[start...end]
  }

  private mutating func fail(_ what: String) -> TestServerError {
    let error = TestServerError.malformedRequest(what)
    state = .failed(error)
    return error
  }
}

extension String {
  /// Without the blanks and tabs around it.
  var trimmedBlanks: String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    var rest = self[...]
    while let first = rest.first, isBlank(first) { rest.removeFirst() }
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return String(rest)
  }
}
