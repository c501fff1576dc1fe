/// Turns header lines, one call each as libcurl delivers them, into heads and trailers.
///
/// Every status line starts a new block, an empty line ends one; lines after the final head are trailers.
package struct HeaderBlockParser: Sendable {
  package enum Event: Sendable, Equatable {
    /// More lines are needed.
    case none
    /// A block is complete.
    case head(ResponseHead)
    /// The trailer section is complete.
    case trailers(HTTPFields)
    /// The line is no header line, or a limit is passed.
    case failure(Failure)
  }

  package enum Failure: Sendable, Equatable {
    case badStatusLine
    case badLine
    case lineTooLong(Int)
    case tooManyLines(Int)
    case tooLarge(Int)
  }

  private enum Block: Sendable, Equatable {
    case none
    case head
    case trailers
  }

  private var block = Block.none
  private var head = ResponseHead(status: 0)
  private var fields = HTTPFields()
  private var hadHead = false
  private var bytes = 0
  private var lines = 0
  private let limit: HeadLimit

  /// - Parameter reserves: whether room for the fields is made at once, where they will be let go: see
  ///   `DeliveredHead`.
  package init(limit: HeadLimit = HeadLimit(), reserves: Bool = false) {
    self.limit = limit
    if reserves { reserve() }
  }

  private mutating func reserve() { fields.reserve(bytes: 512, fields: 16) }

  /// Takes one line with its line end.
  package mutating func line(_ line: UnsafeRawBufferPointer) -> Event {
    bytes += line.count
    if bytes > limit.bytes { return .failure(.tooLarge(limit.bytes)) }
    if line.count > limit.lineBytes { return .failure(.lineTooLong(limit.lineBytes)) }
    var end = line.count
    if end > 0, line[end - 1] == 0x0A { end -= 1 }
    if end > 0, line[end - 1] == 0x0D { end -= 1 }
    let text = UnsafeRawBufferPointer(rebasing: line[..<end])
    if text.isEmpty { return endOfBlock() }
    if Self.startsWithHTTP(text), let status = Self.statusLine(text) {
      head = status
      if !fields.isEmpty { fields = HTTPFields() }
      reserve()
      block = .head
      return .none
    }
    if block == .none {
      guard hadHead else { return .failure(.badStatusLine) }
      block = .trailers
      fields = HTTPFields()
    }
    lines += 1
    if lines > limit.lines { return .failure(.tooManyLines(limit.lines)) }
    return field(text)
  }

  private mutating func endOfBlock() -> Event {
    defer { block = .none }
    switch block {
    case .none: return .none
    case .head:
      hadHead = true
      var complete = ResponseHead(status: 0)
      swap(&complete, &head)
      swap(&complete.headers, &fields)
      return .head(complete)
    case .trailers: return .trailers(fields)
    }
  }

  /// What is left when the exchange ends: trailers whose empty line never came.
  package mutating func finish() -> Event {
    guard block == .trailers, !fields.isEmpty else { return .none }
    block = .none
    return .trailers(fields)
  }

  private mutating func field(_ text: UnsafeRawBufferPointer) -> Event {
    if ByteScan.first(0, in: text, from: 0) != nil { return .failure(.badLine) }
    if let first = text.first, first == 0x20 || first == 0x09 {
      // A line fold (obs-fold, RFC 9112 §5.2) continues the value before it; there is none to continue
      // right after a status line (RFC 9112 §2.2).
      guard !fields.isEmpty else { return .failure(.badLine) }
      let more = Self.trimmed(text, from: 0)
      if !more.isEmpty { fields.extendLast(UnsafeRawBufferPointer(rebasing: text[more])) }
      return .none
    }
    guard let colon = ByteScan.first(UInt8(ascii: ":"), in: text, from: 0), colon > 0 else {
      return .failure(.badLine)
    }
    var nameEnd = colon
    while nameEnd > 0, Self.isBlank(text[nameEnd - 1]) { nameEnd -= 1 }
    fields.append(line: text, name: 0..<nameEnd, value: Self.trimmed(text, from: colon + 1))
    return .none
  }

  private static func startsWithHTTP(_ text: UnsafeRawBufferPointer) -> Bool {
    text.count >= 8 && text[0] == UInt8(ascii: "H") && text[1] == UInt8(ascii: "T")
      && text[2] == UInt8(ascii: "T") && text[3] == UInt8(ascii: "P") && text[4] == UInt8(ascii: "/")
  }

  /// "HTTP/1.1 200 OK" or "HTTP/2 200".
  private static func statusLine(_ text: UnsafeRawBufferPointer) -> ResponseHead? {
    guard let space = ByteScan.first(0x20, in: text, from: 5), space > 5 else { return nil }
    let version: HTTPVersion
    let minor: UInt8? = space == 8 && text[6] == UInt8(ascii: ".") ? text[7] : nil
    switch (text[5], minor) {
    case (UInt8(ascii: "1"), UInt8(ascii: "0")): version = .http1_0
    case (UInt8(ascii: "1"), UInt8(ascii: "1")): version = .http1_1
    case (UInt8(ascii: "2"), UInt8(ascii: "0")): version = .http2
    case (UInt8(ascii: "3"), UInt8(ascii: "0")): version = .http3
    case (UInt8(ascii: "2"), nil) where space == 6: version = .http2
    case (UInt8(ascii: "3"), nil) where space == 6: version = .http3
    default: return nil
    }
    let digits = text[(space + 1)...].prefix(3)
    guard digits.count == 3, digits.allSatisfy(DecimalDigits.isDigit) else { return nil }
    let code = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard code >= 100 else { return nil }
    if text.count > space + 4, text[space + 4] != 0x20 { return nil }
    let reason = text[trimmed(text, from: space + 4)]
    return ResponseHead(
      status: HTTPStatus(code), reason: String(decoding: reason, as: UTF8.self), version: version)
  }

  @inline(__always)
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// What is left of the text from there on, without blanks around it.
  private static func trimmed(_ text: UnsafeRawBufferPointer, from start: Int) -> Range<Int> {
    var start = start
    var end = text.count
    while start < end, isBlank(text[start]) { start += 1 }
    while end > start, isBlank(text[end - 1]) { end -= 1 }
    return start..<end
  }
}
