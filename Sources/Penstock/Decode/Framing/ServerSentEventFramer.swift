/// Server-sent events (WHATWG HTML §9.2.6).
public struct ServerSentEventFramer: ByteFramer {
  private var parser: ServerSentEventParser

  /// Events of at most `limit` bytes of data; a larger one throws `HTTPError.Kind.lineTooLong`.
  ///
  /// - Parameter lastEventID: the ID that holds until the stream names one, from an earlier connection.
  public init(limit: ByteCount = .mebibytes(16), lastEventID: String = "") {
    parser = ServerSentEventParser(limit: Int(clamping: limit.bytes), lastEventID: lastEventID)
  }

  /// The ID of the last closed event, also of one without data.
  public var lastEventID: String { parser.lastEventID }
  /// How long the server asks to wait before a reconnection; nil where it didn't.
  public var reconnectionTime: Duration? { parser.reconnectionTime.map { .milliseconds($0) } }

  /// Appends the events that end in these bytes.
  public mutating func feed(_ bytes: BodyChunk, into elements: inout [ServerSentEvent]) throws(HTTPError) {
    try parser.feed(bytes, into: &elements)
  }

  /// An event that isn't closed by an empty line is dropped, as the standard says.
  public mutating func finish(into elements: inout [ServerSentEvent]) throws(HTTPError) {}
}
