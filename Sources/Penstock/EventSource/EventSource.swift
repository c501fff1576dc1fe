import Synchronization

/// The events of a server, over as many connections as it takes (WHATWG HTML §9.2).
///
/// It is cold: iterating it sends the request, once; a second iteration throws `HTTPError.Kind.alreadyConsumed`. When
/// the stream ends or breaks it waits (the server's `retry`, doubled for each connection in a row that brings no
/// event, and spread), and connects again with `Last-Event-ID`. A status of 204 ends it; another one than 200, and
/// another content type than `text/event-stream`, are errors. Leaving the loop or cancelling the task ends it.
///
/// The client's limit on idle time holds: a server that sends nothing at all for so long, not even comments, is
/// taken for dead and connected to again. The total limit spans all connections and waits.
public struct EventSource: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = ServerSentEvent
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private final class Claim: Sendable {
    let isTaken = Atomic<Bool>(false)
  }

  let request: Request
  private let client: Client
  let options: EventSourceOptions
  private let surroundings: EventSourceRun.Surroundings
  private let claim = Claim()

  init(
    _ request: Request, client: Client, options: EventSourceOptions,
    surroundings: EventSourceRun.Surroundings = .init()
  ) {
    self.request = request
    self.client = client
    self.options = options
    self.surroundings = surroundings
  }

  /// The run for the first caller, nil for all others.
  func claimRun() -> EventSourceRun? {
    if claim.isTaken.exchange(true, ordering: .relaxed) { return nil }
    return EventSourceRun(request, client: client, options: options, surroundings: surroundings)
  }

  /// The one iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(run: claimRun()) }

  /// Connects with the first `next()`.
  public struct Iterator: AsyncIteratorProtocol {
    let run: EventSourceRun?

    /// The next event; nil when the server has ended the stream for good, or it isn't to be opened again.
    ///
    /// - Throws: `HTTPError.Kind.httpStatus` and `contentType` for an answer that is no event stream, `cancelled`,
    ///   `lineTooLong` for an event above the limit, and what made the last connection fail where there are no more.
    public mutating func next() async throws(HTTPError) -> ServerSentEvent? {
      guard let run else { throw ResponseBody.alreadyConsumed }
      return try await run.next()
    }

    /// The next event, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> ServerSentEvent? {
      try await next()
    }
  }
}

extension Client {
  /// The events of a server, over as many connections as it takes.
  ///
  /// ```swift
  /// for try await event in client.eventSource(.get("https://host/events")) {
  ///   print(event.type, event.data)
  /// }
  /// ```
  public func eventSource(_ request: Request, _ options: EventSourceOptions = .init()) -> EventSource {
    EventSource(request, client: self, options: options)
  }
}
