/// A body that fails when it grows beyond a limit.
final class LimitedSource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private let inner: any BodySource
  private let limit: ByteCount
  private let origin: BodyOrigin?
  private var count: Int64 = 0
  private var failure: HTTPError?

  init(_ inner: any BodySource, limit: ByteCount, origin: BodyOrigin?) {
    self.inner = inner
    self.limit = limit
    self.origin = origin
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    if let failure { throw failure }
    guard let chunk = try await inner.next() else { return nil }
    count += Int64(chunk.count)
    if count <= limit.bytes { return chunk }
    inner.abandon()
    let error = HTTPError(
      .bodyTooLarge, phase: .body, message: "the body is larger than the limit of \(limit)",
      advice: "Raise the limit if such bodies are expected", received: count)
    failure = origin?.naming(error) ?? error
    throw failure ?? error
  }

  func abandon() { inner.abandon() }
}

extension ResponseBody {
  /// The body, which throws `HTTPError.Kind.bodyTooLarge` in place of the chunk that passes a limit.
  public func limited(to limit: ByteCount) -> ResponseBody {
    let origin = origin
    return layered(keepsLength: true) { LimitedSource($0, limit: limit, origin: origin) }
  }
}
