import Penstock

/// A body that is lost before its first byte is asked for again, as often as `--retry` says: nothing of it was
/// handed out. (The library's own retries end when it hands out the head.)
struct LostBodyRetry {
  private let policy: RetryPolicy
  private let total: Duration?
  private let begin = ContinuousClock.now
  private var made = 0

  /// Nil where nothing is retried.
  init?(_ settings: Settings) {
    guard let policy = settings.retryPolicy else { return nil }
    self.policy = policy
    if case .after(let limit) = settings.maximumTime { total = limit } else { total = nil }
  }

  /// How long to wait before the request is made again; nil when it isn't.
  mutating func delay(after failure: Failure, of request: Request) -> Duration? {
    guard case .http(let error) = failure, error.phase == .body, request.body.isReplayable,
      policy.methods == .all || request.method.isIdempotent,
      policy.rules.contains(where: { $0.matches(.failure(error)) })
    else { return nil }
    made += error.attempts.count + 1
    guard made <= policy.limit else { return nil }
    var longest = policy.backoff.base
    for _ in 1..<made where longest < policy.maximumDelay { longest *= 2 }
    let delay = min(longest, policy.maximumDelay) * Double.random(in: 0...1)
    guard let total else { return delay }
    return ContinuousClock.now - begin + delay < total ? delay : nil
  }

  /// What is left of `--retry` and of `--max-time`, which span all attempts.
  func limit(_ request: inout Request, _ client: Client) {
    var rest = policy
    rest.limit -= made
    request.retry = rest
    guard let total else { return }
    var limits = client.configuration.timeouts
    limits.total = max(.milliseconds(1), total - (ContinuousClock.now - begin))
    request.timeouts = limits
  }
}
