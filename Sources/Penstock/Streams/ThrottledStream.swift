/// A stream of which the latest element is handed out, no more often than once in a while; see
/// `AsyncSequence.throttled(for:clock:)`.
public struct ThrottledStream<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
  /// What the stream has.
  public typealias Element = Base.Element
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let base: Base
  let interval: Duration
  let clock: any Clock<Duration>

  /// Begins to read the stream with the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(base: base, interval: interval, clock: clock) }

  /// Hands out the elements.
  public struct Iterator: AsyncIteratorProtocol {
    private let base: Base
    private let interval: Duration
    private let clock: any Clock<Duration>
    private var lease: RelayLease<Base.Element>?
    /// Something was handed out: the next one has to wait.
    private var hasGiven = false
    private var ended = false

    init(base: Base, interval: Duration, clock: any Clock<Duration>) {
      self.base = base
      self.interval = interval
      self.clock = clock
    }

    /// The latest element, nil at the end; the last one is always handed out.
    ///
    /// - Throws: what the stream throws; errors other than `HTTPError` as `HTTPError.Kind.readFailed`.
    public mutating func next() async throws(HTTPError) -> Base.Element? {
      if ended { return nil }
      let current = lease ?? RelayLease(.reading(base, latestWins: true))
      lease = current
      if hasGiven { try await pause() }
      switch await current.relay.ask() {
      case .element(let element):
        hasGiven = true
        return element
      case .end, .timeOut:
        ended = true
        lease = nil
        return nil
      case .failure(let error):
        ended = true
        lease = nil
        throw error
      }
    }

    private func pause() async throws(HTTPError) {
      do {
        try await clock.sleep(for: interval)
      } catch {
        throw HTTPError.cancelled(phase: .body)
      }
    }

    /// The latest element, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> Base.Element? {
      try await next()
    }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// The latest element, no more often than once an interval: for displays of what changes fast. The stream is read at
  /// its own speed meanwhile, and one element is held; the last one is always handed out.
  ///
  /// ```swift
  /// for try await price in prices.throttled(for: .milliseconds(100)) { show(price) }
  /// ```
  public func throttled(
    for interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> ThrottledStream<Self> { ThrottledStream(base: self, interval: interval, clock: clock) }
}
