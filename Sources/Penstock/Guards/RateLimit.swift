import Synchronization

/// Sends at most so many requests a second to each origin (or other key); the rest wait in order.
///
/// Each attempt counts: retries and redirects too. A wait that would pass the call's deadline, or `longestWait`,
/// throws `HTTPError.Kind.admissionTimeout` at once.
///
/// ```swift
/// configuration.middlewares = [RateLimit(perSecond: 50, burst: 10)]
/// ```
public final class RateLimit: Middleware {
  /// Above it, idle keys are forgotten.
  private static let sweepCount = 1024
  /// `.attempt`.
  public let scope = MiddlewareScope.attempt
  private let rate: Double
  private let burst: Double
  private let key: GuardKey
  private let longestWait: Duration?
  private let observer: GuardObserver?
  private let buckets = Mutex(KeyedStates<TokenBucket>())

  /// A limit.
  ///
  /// - Parameters:
  ///   - perSecond: requests a second, above 0; fractions allowed.
  ///   - burst: how many may go at once after a pause; at least 1.
  ///   - key: what is counted together.
  ///   - longestWait: the longest that a request waits; nil: as long as its call has time.
  ///   - observer: gets `delayed` and `refused`.
  public init(
    perSecond: Double, burst: Int = 1, by key: GuardKey = .origin, longestWait: Duration? = nil,
    observer: GuardObserver? = nil
  ) {
    rate = perSecond
    self.burst = Double(burst)
    self.key = key
    self.longestWait = longestWait
    self.observer = observer
  }

  /// How many keys are counted now.
  public var keyCount: Int { buckets.withLock { $0.count } }

  /// Waits for a token, then goes on.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    guard let key = key(request) else { return try await next(request) }
    let longest = [longestWait, context.timeLeft].compactMap { $0 }.min()
    guard let wait = reserve(key, longest, context.clock.now()) else {
      observer?(.refused(key: key))
      throw HTTPError(
        .admissionTimeout, phase: .queue,
        message: "the rate limit of \(rate) requests a second leaves no turn in time",
        advice: "Send fewer requests, or allow a longer wait", method: request.method, url: request.url)
    }
    if wait > .zero {
      observer?(.delayed(key: key, by: wait))
      do throws(HTTPError) {
        try await context.clock.wait(wait, method: request.method, url: request.url)
      } catch {
        _ = buckets.withLock { $0.change(key) { $0.refund() } }
        throw error
      }
    }
    return try await next(request)
  }

  private func reserve(_ key: String, _ longest: Duration?, _ now: MonotonicInstant) -> Duration? {
    buckets.withLock { buckets in
      buckets.change(
        key, orMake: { TokenBucket(rate: rate, burst: burst, now: now) }, sweepCount: Self.sweepCount,
        isIdle: { $0.isFull(at: now) }, { $0.reserve(at: now, longest: longest) })
    }
  }
}

extension RateLimit: PromptGuard {
  func enter(_ attempt: GuardedAttempt) -> GuardPass? {
    guard let key = attempt.key(key) else { return GuardPass(key: nil) }
    return reserve(key, .zero, attempt.now) == nil ? nil : GuardPass(key: key)
  }
}
