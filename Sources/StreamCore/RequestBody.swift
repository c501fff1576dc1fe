/// The content of a request: nothing, bytes, a file, or a stream of known or unknown length.
public struct RequestBody: Sendable {
  package enum Content: Sendable {
    case empty
    case bytes(BodyChunk)
    case file(path: String)
    case stream(@Sendable () -> any BodySource)
    /// Made when the request is sent: files are opened and lengths read then.
    case deferred(@Sendable () throws(HTTPError) -> RequestBody)
  }

  package let content: Content
  /// The length in bytes, nil when unknown: then HTTP/1.1 sends chunks (RFC 9112 §7.1). A file's length is
  /// read when it is sent.
  public let length: Int64?
  /// Whether it can be sent a second time, on a new connection or after a redirect.
  public let isReplayable: Bool

  private struct Extras: Sendable {
    var contentType: String?
    var trailers: RequestTrailers?
    var origin: (any Sendable)?
  }

  /// What few bodies have: behind one reference, so that a copy of the others is cheap.
  private var extras: CopyOnWrite<Extras>?

  private mutating func change(_ change: (inout Extras) -> Void) {
    var changed = extras?.value ?? Extras()
    change(&changed)
    extras = CopyOnWrite(changed)
  }

  /// What a request with this body says in Content-Type unless it has that field itself.
  public private(set) var contentType: String? {
    get { extras?.value.contentType }
    set { change { $0.contentType = newValue } }
  }
  /// What follows the body.
  package private(set) var trailers: RequestTrailers? {
    get { extras?.value.trailers }
    set { change { $0.trailers = newValue } }
  }
  /// What it was made from, for those who show a request in another form.
  package var origin: (any Sendable)? {
    get { extras?.value.origin }
    set { change { $0.origin = newValue } }
  }
  /// Whether it is content alone.
  package var isPlain: Bool { extras == nil }

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

  /// The same with a Content-Type (RFC 9110 §8.3), for requests that don't have that field themselves.
  public func typed(_ contentType: String?) -> RequestBody {
    if contentType == nil, isPlain { return self }
    var body = self
    body.contentType = contentType
    return body
  }

  /// The same with a trailer section (RFC 9110 §6.5), for example a digest of a stream.
  ///
  /// Trailers exist in the chunked coding of HTTP/1.1 alone (RFC 9112 §7.1.2), so such a body is sent in chunks,
  /// and over HTTP/1.1.
  ///
  /// - Parameters:
  ///   - names: what the Trailer field announces. A field that must stand in front (Content-Length,
  ///     Authorization, …) throws `HTTPError.Kind.invalidHeader` when the request is sent.
  ///   - values: called each time the body has been read to its end. A field that wasn't announced fails the
  ///     exchange, as does what it throws.
  public func trailers(
    _ names: [String], _ values: @escaping @Sendable () async throws -> HTTPFields
  ) -> RequestBody {
    var body = RequestBody(content, length: nil, isReplayable: isReplayable)
    if let contentType { body.contentType = contentType }
    body.trailers = RequestTrailers(names, values)
    return body
  }

  /// A body that is made when the request is sent.
  package static func deferred(
    isReplayable: Bool, _ make: @escaping @Sendable () throws(HTTPError) -> RequestBody
  ) -> RequestBody {
    RequestBody(.deferred(make), length: nil, isReplayable: isReplayable)
  }

  /// What is sent in place of a deferred body; any other is itself.
  package func made() throws(HTTPError) -> RequestBody {
    guard case .deferred(let make) = content else { return self }
    var body = try make().made()
    if let contentType { body.contentType = contentType }
    return trailers.map { body.trailers($0.names, $0.values) } ?? body
  }

  /// The same content from another place: type and trailers stay.
  package func replacingContent(with body: RequestBody) -> RequestBody {
    let typed = body.typed(contentType)
    return trailers.map { typed.trailers($0.names, $0.values) } ?? typed
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
    case .file, .stream, .deferred: false
    }
  }
}

extension RequestBody {
  /// Whether it must be made into another one before it is sent.
  package var needsOpening: Bool {
    switch content {
    case .file, .deferred: true
    case .empty, .bytes, .stream: trailers != nil
    }
  }

  /// Trailers follow chunks, and chunks come from a feeder: bytes become a stream.
  package var streamedForTrailers: RequestBody {
    guard trailers != nil else { return self }
    switch content {
    case .empty: return replacingContent(with: .source(length: nil, isReplayable: true) { ChunkSource(nil) })
    case .bytes(let chunk):
      return replacingContent(with: .source(length: nil, isReplayable: true) { ChunkSource(chunk) })
    case .file, .stream, .deferred: return self
    }
  }
}

/// One chunk as a source.
package final class ChunkSource: BodySource, @unchecked Sendable {
  // Sendable: one task at a time reads it.
  private var chunk: BodyChunk?

  package init(_ chunk: BodyChunk?) { self.chunk = chunk }

  package func next() async throws(HTTPError) -> BodyChunk? { chunk.take() }
  package func abandon() { chunk = nil }
}
