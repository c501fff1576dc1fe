import Synchronization

/// Holds a body that nobody reads yet, hands it to its one reader, and ends the exchange if none ever comes.
final class ResponseBodyOwner: Sendable {
  private let source: Mutex<(any BodySource)?>

  let origin: BodyOrigin?

  init(source: (any BodySource)?, origin: BodyOrigin?) {
    self.source = Mutex(source)
    self.origin = origin
  }

  deinit { source.withLock { $0.take() }?.abandon() }

  /// The source for the first caller, nil for all others.
  func claim() -> (any BodySource)? { source.withLock { $0.take() } }
}

/// A body whose bytes are here already.
package final class FixedBodySource: BodySource {
  private let chunk: Mutex<BodyChunk?>

  package init(_ chunk: BodyChunk) { self.chunk = Mutex(chunk.isEmpty ? nil : chunk) }

  package func next() async throws(HTTPError) -> BodyChunk? { chunk.withLock { $0.take() } }
  package func abandon() { chunk.withLock { $0 = nil } }
}
