/// A stream that must keep to limits of time; see `AsyncSequence.timeLimited(each:total:clock:)`.
public struct TimeLimitedStream<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
  /// What the stream has.
  public typealias Element = Base.Element
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let base: Base
  let each: Duration?
  let total: Duration?
  let clock: any Clock<Duration>

  /// Begins to read the stream, and to count the total, with the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Hands out the elements.
  public struct Iterator: AsyncIteratorProtocol {
    private let stream: TimeLimitedStream
    private var lease: RelayLease<Base.Element>?
    private var total: (any TotalLimit)?
    private var failure: HTTPError?
    private var ended = false

    init(stream: TimeLimitedStream) { self.stream = stream }

    /// The next element, nil at the end.
    ///
    /// - Throws: `HTTPError.Kind.idleTimeout` or `totalTimeout` when a limit has passed, and what the stream throws;
    ///   errors other than `HTTPError` as `HTTPError.Kind.readFailed`. A limit that has passed ends the stream.
    public mutating func next() async throws(HTTPError) -> Base.Element? {
      if let failure { throw failure }
      if ended { return nil }
      let current = lease ?? RelayLease(.reading(stream.base, latestWins: false))
      lease = current
      let total = total ?? stream.total.map { Self.begin($0, stream.clock) }
      self.total = total
      let left = total?.left ?? stream.each ?? .zero
      let limit = Swift.min(left, stream.each ?? left)
      let isTotal = stream.each.map { left < $0 } ?? true
      switch await Self.ask(
        current.relay, within: stream.each == nil && total == nil ? nil : limit, stream.clock)
      {
      case .element(let element): return element
      case .end:
        ended = true
        lease = nil
        return nil
      case .failure(let error): throw fail(error)
      case .timeOut:
        let limit = isTotal ? stream.total : stream.each
        throw fail(
          HTTPError(
            isTotal ? .totalTimeout : .idleTimeout, phase: .body,
            message: isTotal
              ? "the stream lasted longer than \(limit ?? .zero)"
              : "nothing came from the stream for \(limit ?? .zero)"))
      }
    }

    private mutating func fail(_ error: HTTPError) -> HTTPError {
      failure = error
      lease = nil
      return error
    }

    private static func ask(
      _ relay: StreamRelay<Base.Element>, within limit: Duration?, _ clock: any Clock<Duration>
    ) async -> StreamRelay<Base.Element>.Answer {
      guard let limit else { return await relay.ask() }
      let question = relay.nextQuestion
      let timer = Task {
        guard (try? await clock.sleep(for: Swift.max(.zero, limit))) != nil else { return }
        relay.timeOut(question)
      }
      defer { timer.cancel() }
      return await relay.ask()
    }

    private static func begin<C: Clock<Duration>>(_ limit: Duration, _ clock: C) -> any TotalLimit {
      ClockDeadline(clock: clock, end: clock.now.advanced(by: limit))
    }

    /// The next element, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> Base.Element? {
      try await next()
    }
  }
}

/// A point in time of some clock.
private protocol TotalLimit: Sendable {
  var left: Duration { get }
}

private struct ClockDeadline<C: Clock<Duration>>: TotalLimit {
  let clock: C
  let end: C.Instant

  var left: Duration { clock.now.duration(to: end) }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// The stream, which fails when it takes too long. Time in which nobody asks for an element isn't counted by `each`.
  ///
  /// - Parameters:
  ///   - each: how long an element may take, from the moment it is asked for; then
  ///     `HTTPError.Kind.idleTimeout` is thrown.
  ///   - total: how long all may take, from the first question on; then `HTTPError.Kind.totalTimeout` is thrown.
  public func timeLimited(
    each: Duration? = nil, total: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) -> TimeLimitedStream<Self> { TimeLimitedStream(base: self, each: each, total: total, clock: clock) }
}
