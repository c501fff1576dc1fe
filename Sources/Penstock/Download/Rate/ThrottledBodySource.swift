import StreamCore

/// A body that is handed out no faster than its limit; what isn't taken holds the server back.
final class ThrottledBodySource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private let inner: any BodySource
  private let limiter: RateLimiter
  private var rest = BodyChunk.empty

  static func wrap(_ source: any BodySource, rate: ByteRate?) -> any BodySource {
    rate.map { ThrottledBodySource(source, rate: $0) } ?? source
  }

  private init(_ inner: any BodySource, rate: ByteRate) {
    self.inner = inner
    limiter = RateLimiter(rate)
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    if rest.isEmpty {
      guard let chunk = try await inner.next() else { return nil }
      rest = chunk
    }
    let piece = rest.prefix(limiter.piece)
    rest = rest.dropFirst(piece.count)
    await limiter.pass(piece.count)
    if Task.isCancelled {
      abandon()
      throw .cancelled(phase: .body)
    }
    return piece
  }

  func abandon() { inner.abandon() }
}

extension Request {
  /// How many bytes a second are received, and sent, at most; nil, the default: as fast as it goes. It is kept on
  /// the average of a second or so, for each exchange by itself.
  public var rateLimit: ByteRate? {
    get { choices.value.rateLimit }
    set { choices.value.rateLimit = newValue }
  }
}
