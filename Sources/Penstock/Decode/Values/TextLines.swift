/// The lines of a body as strings; bytes that aren't UTF-8 are replaced by U+FFFD.
public struct TextLines: AsyncSequence, Sendable {
  /// A line without its ending.
  public typealias Element = String
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let lines: FramedBody<LineFramer>

  /// The one iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(lines: lines.makeAsyncIterator()) }

  /// Hands out the lines.
  public struct Iterator: AsyncIteratorProtocol {
    var lines: FramedBody<LineFramer>.Iterator

    /// The next line, nil at the end.
    ///
    /// - Throws: `HTTPError.Kind.lineTooLong` for a line above the limit, and whatever ended the body.
    public mutating func next() async throws(HTTPError) -> String? {
      guard let line = try await lines.next() else { return nil }
      return line.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The next line, nil at the end, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> String? {
      try await next()
    }
  }
}

extension ResponseBody {
  /// The lines of the body as strings: LF or CRLF ends a line, and the largest has 16 MiB.
  ///
  /// ```swift
  /// for try await line in response.body.lines { print(line) }
  /// ```
  public var lines: TextLines { lines() }

  /// The lines of the body as strings.
  ///
  /// - Parameters:
  ///   - ending: what ends a line.
  ///   - limit: the largest line, its ending not counted; a longer one throws `HTTPError.Kind.lineTooLong` as soon
  ///     as it is.
  public func lines(
    endingWith ending: LineEnding = .lineFeed, limit: ByteCount = .mebibytes(16)
  ) -> TextLines { TextLines(lines: byteLines(endingWith: ending, limit: limit)) }

  /// The lines of the body as bytes, mostly without a copy: LF or CRLF ends a line, and the largest has 16 MiB.
  public var byteLines: FramedBody<LineFramer> { byteLines() }

  /// The lines of the body as bytes, mostly without a copy; see `lines(endingWith:limit:)`. A line keeps the chunk
  /// that it lies in: copy those that you keep for long.
  public func byteLines(
    endingWith ending: LineEnding = .lineFeed, limit: ByteCount = .mebibytes(16)
  ) -> FramedBody<LineFramer> { decoded(by: LineFramer(endingWith: ending, limit: limit)) }

  /// The body as server-sent events (WHATWG HTML §9.2.6) of at most 16 MiB of data each. It ends with the body;
  /// `Client.eventSource(_:)` reconnects.
  public var serverSentEvents: FramedBody<ServerSentEventFramer> { serverSentEvents() }

  /// The body as server-sent events; see `ServerSentEventFramer` for the parameters.
  public func serverSentEvents(
    limit: ByteCount = .mebibytes(16), lastEventID: String = ""
  ) -> FramedBody<ServerSentEventFramer> {
    decoded(by: ServerSentEventFramer(limit: limit, lastEventID: lastEventID))
  }
}
