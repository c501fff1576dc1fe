/// The events of many event sources as one stream, each with its source; see `Client.merge(_:)`.
public struct MergedEvents: AsyncSequence, Sendable {
  /// An event with its source, or the end of a source.
  public typealias Element = Merged<ServerSentEvent>
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let sources: [EventSource]

  /// Connects with the first `next()`. Each source can be iterated once, in whatever way: one that was before is at its
  /// end with `HTTPError.Kind.alreadyConsumed`.
  public func makeAsyncIterator() -> Iterator { Iterator(sources: sources) }

  /// Hands out the events.
  public struct Iterator: AsyncIteratorProtocol {
    private let sources: [EventSource]
    private var lease: MergedEventsLease?
    /// The events of one piece of one source.
    private var batch: [ServerSentEvent] = []
    private var position = 0
    private var source = 0

    init(sources: [EventSource]) { self.sources = sources }

    /// The next event or end of a source; nil when all have ended. A failure of one source isn't thrown: it is its
    /// `ended`.
    ///
    /// - Throws: `HTTPError.cancelled` when the task was cancelled.
    public mutating func next() async throws(HTTPError) -> Merged<ServerSentEvent>? {
      if position < batch.count {
        defer { position += 1 }
        return Merged(source: source, content: .element(batch[position]))
      }
      let current = lease ?? MergedEventsLease(MergedEventsHub(sources))
      lease = current
      let hub = current.hub
      batch.removeAll(keepingCapacity: batch.capacity <= 256)
      position = 0
      while true {
        switch try await hub.next(into: &batch) {
        case .events(let source):
          self.source = source
          position = 1
          return Merged(source: source, content: .element(batch[0]))
        case .ended(let source, let failure): return Merged(source: source, content: .ended(failure))
        case .allEnded: return nil
        }
      }
    }

    /// The next event or end of a source, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> Merged<ServerSentEvent>? {
      try await next()
    }
  }
}

/// Ends all sources when their reader has gone.
final class MergedEventsLease: Sendable {
  let hub: MergedEventsHub
  init(_ hub: MergedEventsHub) { self.hub = hub }
  deinit {
    hub.stop()
    hub.cleanUp()
  }
}

extension Client {
  /// The events of many event sources as one stream, each with its source: thousands in one loop.
  ///
  /// ```swift
  /// for try await item in client.merge(urls.map { client.eventSource(.get($0)) }) {
  ///   if let event = item.element { print(urls[item.source], event.data) }
  /// }
  /// ```
  ///
  /// An open stream needs no task: its bytes wait in the exchange, up to the watermark, until the loop takes them. A
  /// source has a task only while it connects or waits to; 64 connect at a time. Sources take turns, a piece of at most
  /// 32 KiB each. Raise `Limits.longLived` for more than 16,384.
  public func merge(_ sources: some Sequence<EventSource>) -> MergedEvents {
    MergedEvents(sources: Array(sources))
  }
}
