/// Where the bytes of a body go besides their reader; see `ResponseBody.tee(to:)`.
///
/// One task at a time calls it. It holds the reader, and by that the network, while it writes.
public protocol ByteSink: Sendable {
  /// Takes the next chunk; returns when there is room for more.
  func write(_ chunk: BodyChunk) async throws(HTTPError)
  /// The body has come to its end; returns when all is where it belongs.
  func finish() async throws(HTTPError)
  /// The body failed, or nobody reads it to its end. Called at most once, never after `finish()`.
  func cancel()
}

/// A body that is written elsewhere too as it is read.
final class TeeSource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time; only `abandon` may come from its end.
  private let inner: any BodySource
  private let sink: any ByteSink
  private var isOver = false

  init(_ inner: any BodySource, sink: any ByteSink) {
    self.inner = inner
    self.sink = sink
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    do throws(HTTPError) {
      guard let chunk = try await inner.next() else {
        if !isOver {
          try await sink.finish()
          isOver = true
        }
        return nil
      }
      try await sink.write(chunk)
      return chunk
    } catch {
      abandon()
      throw error
    }
  }

  func abandon() {
    inner.abandon()
    if isOver { return }
    isOver = true
    sink.cancel()
  }
}

/// A sink that is a closure.
private struct ClosureSink: ByteSink {
  let take: @Sendable (BodyChunk) async throws(HTTPError) -> Void

  func write(_ chunk: BodyChunk) async throws(HTTPError) { try await take(chunk) }
  func finish() async throws(HTTPError) {}
  func cancel() {}
}

extension ResponseBody {
  /// The body, each chunk of which is written to a sink before it is handed out. A failure of the sink is thrown by
  /// the body. A reader that stops before the end, or a body that fails, cancels the sink.
  public func tee(to sink: some ByteSink) -> ResponseBody {
    layered(keepsLength: true) { TeeSource($0, sink: sink) }
  }

  /// The body, each chunk of which is shown to a closure before it is handed out; the reader waits for it.
  public func tee(to take: @escaping @Sendable (BodyChunk) async throws(HTTPError) -> Void) -> ResponseBody {
    tee(to: ClosureSink(take: take))
  }
}
