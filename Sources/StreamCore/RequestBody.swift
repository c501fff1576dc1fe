/// The content of a request: nothing, bytes, a file, or a stream of known or unknown length.
public struct RequestBody: Sendable {
  package enum Content: Sendable {
    case empty
    case bytes(BodyChunk)
    case file(path: String)
    case stream(@Sendable () -> any BodySource)
  }

  package let content: Content
  /// The length in bytes, nil when unknown: then HTTP/1.1 sends chunks (RFC 9112 §7.1). A file's length is
  /// read when it is sent.
  public let length: Int64?
  /// Whether it can be sent a second time, on a new connection or after a redirect.
  public let isReplayable: Bool

  private init(_ content: Content, length: Int64?, isReplayable: Bool) {
    self.content = content
    self.length = length
    self.isReplayable = isReplayable
  }

  /// No content.
  public static let empty = RequestBody(.empty, length: 0, isReplayable: true)

  /// These bytes, copied once.
  public static func bytes(_ bytes: some Sequence<UInt8>) -> RequestBody {
    let chunk = (bytes as? BodyChunk) ?? BodyChunk(bytes)
    return RequestBody(.bytes(chunk), length: Int64(chunk.count), isReplayable: true)
  }

  /// The UTF-8 bytes of a text.
  public static func string(_ text: String) -> RequestBody { .bytes(Array(text.utf8)) }

  /// The content of a regular file, streamed. Opened when the request is sent: then
  /// `HTTPError.Kind.readFailed` says that it can't be.
  public static func file(_ path: String) -> RequestBody {
    RequestBody(.file(path: path), length: nil, isReplayable: true)
  }

  /// A sequence of byte buffers, sent as they come and no faster than the peer takes them.
  ///
  /// - Parameters:
  ///   - sequence: iterated once; what it throws fails the exchange as `HTTPError.Kind.readFailed`.
  ///   - length: the sum of all buffers in bytes, where it is known; a sequence that yields fewer or more
  ///     fails the exchange as `HTTPError.Kind.invalidBody`. Nil: HTTP/1.1 sends chunks.
  public static func stream<S: AsyncSequence & Sendable>(
    _ sequence: S, length: Int64? = nil
  ) -> RequestBody where S.Element: Sequence<UInt8> & Sendable {
    RequestBody(
      .stream { SequenceBodySource(sequence) }, length: length, isReplayable: false)
  }

  /// The same, from a closure that makes the sequence anew each time the body must be sent.
  public static func replayableStream<S: AsyncSequence & Sendable>(
    length: Int64? = nil, _ make: @escaping @Sendable () -> S
  ) -> RequestBody where S.Element: Sequence<UInt8> & Sendable {
    RequestBody(
      .stream { SequenceBodySource(make()) }, length: length, isReplayable: true)
  }

  /// A body that another layer feeds.
  package static func source(
    length: Int64?, isReplayable: Bool, _ make: @escaping @Sendable () -> any BodySource
  ) -> RequestBody {
    RequestBody(.stream(make), length: length, isReplayable: isReplayable)
  }

  /// Whether there is nothing to send.
  public var isEmpty: Bool {
    switch content {
    case .empty: true
    case .bytes(let chunk): chunk.isEmpty
    case .file, .stream: false
    }
  }
}
