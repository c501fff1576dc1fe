import Synchronization

/// Sends a second attempt of a safe request when the first is slower than most were, and takes the answer that
/// comes first; the other one is cancelled. It cuts the long tail of latencies for a few per cent more load.
///
/// Only GET, HEAD, OPTIONS and TRACE are hedged (RFC 9110 §9.2.1), with a body that can be sent again.
public final class Hedging: Middleware {
  /// When a second attempt is made.
  public struct Settings: Sendable, Hashable {
    /// The part of the last latencies (to the head) that must have been shorter; 0.95.
    public var percentile = 0.95
    /// How many latencies must be known before anything is hedged; 20.
    public var minimumSamples = 20
    /// The shortest wait before a second attempt; 20 ms.
    public var shortestDelay: Duration = .milliseconds(20)
    /// The wait while too few latencies are known; nil: no second attempt then.
    public var initialDelay: Duration?
    /// The most second attempts for each first one, over time; 0.1.
    public var ratio = 0.1

    /// The defaults.
    public init() {}
  }

  private struct State: Sendable {
    var windows: [String: LatencyWindow] = [:]
    /// What first attempts have earned.
    var allowance = 1.0
  }

  private enum Runner: Sendable {
    case timer(fired: Bool)
    case first(Result<Response, HTTPError>)
    case second(Result<Response, HTTPError>)
  }

  private static let keyLimit = 1024
  /// `.attempt`.
  public let scope = MiddlewareScope.attempt
  private let settings: Settings
  private let key: GuardKey
  private let observer: GuardObserver?
  private let state = Mutex(State())

  /// A hedge.
  ///
  /// - Parameters:
  ///   - settings: when a second attempt is made.
  ///   - key: what shares its latencies.
  ///   - observer: gets `hedged` and `hedgeWon`.
  public init(
    _ settings: Settings = Settings(), by key: GuardKey = .origin, observer: GuardObserver? = nil
  ) {
    self.settings = settings
    self.key = key
    self.observer = observer
  }

  /// Goes on, once or twice.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    guard request.method.isSafe, request.body.isEmpty || request.body.isReplayable, let key = key(request)
    else { return try await next(request) }
    guard let delay = delay(key) else {
      let begin = context.clock.now()
      let response = try await next(request)
      learn(context.clock.now() - begin, key)
      return response
    }
    return try await race(request, key, delay, context, next).get()
  }

  private func race(
    _ request: Request, _ key: String, _ delay: Duration, _ context: MiddlewareContext,
    _ next: MiddlewareNext
  ) async -> Result<Response, HTTPError> {
    let clock = context.clock
    let begin = clock.now()
    return await withTaskGroup(of: Runner.self) { group in
      group.addTask { .first(await next.result(request)) }
      group.addTask {
        do { try await clock.sleep(delay) } catch { return .timer(fired: false) }
        return .timer(fired: true)
      }
      var running = 1
      var last: Result<Response, HTTPError>?
      while let runner = await group.next() {
        let isSecond: Bool
        let result: Result<Response, HTTPError>
        switch runner {
        case .timer(false): continue
        case .timer(true):
          guard spend() else { continue }
          observer?(.hedged(key: key, after: delay))
          running += 1
          group.addTask { .second(await next.result(request)) }
          continue
        case .first(let first): (isSecond, result) = (false, first)
        case .second(let second): (isSecond, result) = (true, second)
        }
        running -= 1
        // A failure, or a status that says that the server is unwell, waits for the other one.
        if running > 0, !Self.isGood(result) {
          last = result
          continue
        }
        group.cancelAll()
        if Self.isGood(result) {
          learn(clock.now() - begin, key)
          if isSecond { observer?(.hedgeWon(key: key)) }
          return result
        }
        if case .failure = result, case .success? = last, let last { return last }
        return result
      }
      return last ?? .failure(.cancelled)
    }
  }

  private static func isGood(_ result: Result<Response, HTTPError>) -> Bool {
    if case .success(let response) = result { response.status.code < 500 } else { false }
  }

  private func delay(_ key: String) -> Duration? {
    state.withLock { state in
      state.allowance = min(10, state.allowance + max(0, settings.ratio))
      guard let window = state.windows[key], window.count >= settings.minimumSamples,
        let latency = window.latency
      else { return settings.initialDelay }
      return max(latency, settings.shortestDelay)
    }
  }

  private func spend() -> Bool {
    state.withLock { state in
      guard state.allowance >= 1 else { return false }
      state.allowance -= 1
      return true
    }
  }

  private func learn(_ latency: Duration, _ key: String) {
    state.withLock { state in
      if state.windows.count >= Self.keyLimit, state.windows[key] == nil { state.windows = [:] }
      state.windows[key, default: LatencyWindow(percentile: settings.percentile)].add(latency)
    }
  }
}
