/// Where body chunks come from; used by one task at a time.
package protocol BodySource: AnyObject, Sendable {
  /// The next chunk, nil at the end.
  func next() async throws(HTTPError) -> BodyChunk?
  /// The same as far as it goes without waiting: spares readers who find something the cost of a suspension.
  func ready() throws(HTTPError) -> ReadyChunk
  /// No more will be read.
  func abandon()
}

/// What a source has at a moment.
package enum ReadyChunk: Sendable {
  case chunk(BodyChunk)
  case end
  /// Ask `next()`, which may wait.
  case none
}

extension BodySource {
  package func ready() throws(HTTPError) -> ReadyChunk { .none }
}

/// The body of a response: chunks as they arrive, at the reader's pace.
///
/// It can be read once. Leaving the loop, dropping the iterator, or dropping an unread body ends the exchange;
/// bytes that the network delivers meanwhile are held to the watermarks of the request.
public struct ResponseBody: AsyncSequence, Sendable {
  /// A chunk of bytes.
  public typealias Element = BodyChunk
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private let owner: ResponseBodyOwner
  /// How many bytes will come, where the head says so and no content coding is taken off.
  public let contentLength: Int64?
  /// Whether the end can be told from a cut: false for a body that lasts until the connection closes (RFC 9112 §8),
  /// and for one without a Content-Length over HTTP/2, as libcurl before 8.0 takes a stream that was reset without
  /// an error for one that has ended.
  public let isEndVerifiable: Bool

  package init(
    source: any BodySource, contentLength: Int64? = nil, isEndVerifiable: Bool = true,
    origin: BodyOrigin? = nil
  ) {
    self.owner = ResponseBodyOwner(source: source, origin: origin)
    self.contentLength = contentLength
    self.isEndVerifiable = isEndVerifiable
  }

  /// A body that somebody else reads.
  init(taken origin: BodyOrigin?) {
    owner = ResponseBodyOwner(source: nil, origin: origin)
    contentLength = nil
    isEndVerifiable = true
  }

  /// Which response it belongs to, where that is known.
  package var origin: BodyOrigin? { owner.origin }

  /// A body of bytes that are here already, for tests and mocks.
  public init(_ bytes: some Sequence<UInt8> & Sendable) {
    let chunk = BodyChunk(bytes)
    self.init(source: FixedBodySource(chunk), contentLength: Int64(chunk.count))
  }

  /// The one iterator; a second one throws `HTTPError.Kind.alreadyConsumed`.
  public func makeAsyncIterator() -> Iterator { Iterator(reading: owner.claim()) }

  /// Takes the source for a layer that reads it in place of the caller; nil when it was taken before.
  package func claimSource() -> (any BodySource)? { owner.claim() }

  /// Collects the whole body.
  ///
  /// - Parameter limit: the most bytes to take, content coding taken off.
  /// - Throws: `HTTPError.Kind.bodyTooLarge` as soon as the limit is passed (before the first byte where the
  ///   head says so), and whatever ended the body.
  public func collect(upTo limit: ByteCount) async throws(HTTPError) -> [UInt8] {
    if limit.bytes < 0 {
      owner.claim()?.abandon()
      throw HTTPError(
        .invalidConfiguration, phase: .body, message: "the limit of a body is negative",
        advice: "Give the largest body that you take, or `.unlimited`")
    }
    if let contentLength, contentLength > limit.bytes {
      owner.claim()?.abandon()
      throw Self.tooLarge(limit, announced: contentLength)
    }
    guard let source = owner.claim() else { throw Self.alreadyConsumed }
    let lease = SourceLease(source)
    defer { lease.end() }
    var bytes: [UInt8] = []
    // Untouched pages cost nothing, but a length that is a lie shouldn't reserve without bound.
    if let contentLength { bytes.reserveCapacity(Int(Swift.min(contentLength, Self.reserved))) }
    while true {
      let chunk: BodyChunk
      switch try source.ready() {
      case .chunk(let found): chunk = found
      case .end: return bytes
      case .none:
        guard let found = try await source.next() else { return bytes }
        chunk = found
      }
      if Int64(bytes.count) + Int64(chunk.count) > limit.bytes {
        throw Self.tooLarge(limit, announced: nil)
      }
      chunk.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
  }

  /// Reads and drops the whole body; returns the number of bytes, content coding taken off.
  ///
  /// - Throws: `HTTPError.Kind.alreadyConsumed` when it was read before, and whatever ended the body.
  public func drain() async throws(HTTPError) -> Int64 {
    guard let source = owner.claim() else { throw Self.alreadyConsumed }
    let lease = SourceLease(source)
    defer { lease.end() }
    var count: Int64 = 0
    while let chunk = try await source.next() { count += Int64(chunk.count) }
    return count
  }

  private static let reserved: Int64 = 64 << 20

  package static let alreadyConsumed = HTTPError(
    .alreadyConsumed, phase: .body, message: "this stream has been read before",
    advice: "A body can be read once; collect it if you need it twice")

  private static func tooLarge(_ limit: ByteCount, announced: Int64?) -> HTTPError {
    HTTPError(
      .bodyTooLarge, phase: .body,
      message: announced.map { "the body of \($0) bytes is larger than the limit of \(limit)" }
        ?? "the body is larger than the limit of \(limit)",
      advice: "Raise the limit, or read the body as a stream")
  }

  /// Hands out the chunks.
  public struct Iterator: AsyncIteratorProtocol {
    private let lease: SourceLease?

    init(reading source: (any BodySource)?) { self.lease = source.map(SourceLease.init) }

    /// The next chunk, nil at the end.
    ///
    /// - Throws: `HTTPError.cancelled` when the task was cancelled or the response was ended, and whatever ended
    ///   the body: `HTTPError.Kind.truncated`, `receiveFailed`, `idleTimeout`, `contentEncoding`, …
    public mutating func next() async throws(HTTPError) -> BodyChunk? { try await next(isolation: nil) }

    /// The next chunk, nil at the end, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> BodyChunk? {
      guard let lease else { throw ResponseBody.alreadyConsumed }
      switch try lease.source.ready() {
      case .chunk(let chunk): return chunk
      case .end: return nil
      case .none: return try await lease.source.next()
      }
    }
  }
}

/// Ends the exchange when the one who reads it has gone.
package final class SourceLease: Sendable {
  package let source: any BodySource
  package init(_ source: any BodySource) { self.source = source }
  deinit { source.abandon() }
  /// Ends the lease early; what has ended already isn't touched by it.
  package func end() { source.abandon() }
}
