import StreamCore

/// How a download heals itself: which failures are worth another try, and how long to wait before it. Pure.
///
/// A try that brought new bytes begins the count anew; so a file comes over a line that breaks a hundred times,
/// and a server that never gets any further is given up.
struct HealingPolicy: Sendable {
  enum Decision: Sendable, Equatable {
    case retry(delay: Duration)
    case giveUp
  }

  private let policy: RetryPolicy
  /// After a loss on the way the line is likely to be good again at once.
  private static let shortDelay = Duration.milliseconds(20)

  private(set) var failures = 0
  private var best: Int64 = 0

  init(_ policy: RetryPolicy) { self.policy = policy }

  /// `reached`: how many bytes have come in all. `random`: 0..<1.
  mutating func failed(
    _ error: HTTPError, reached: Int64, retryAfter: Duration? = nil, random: Double
  ) -> Decision {
    guard policy.limit > 0, isWorthRetrying(error, hasBytes: reached > 0) else { return .giveUp }
    if reached > best {
      best = reached
      failures = 0
    }
    failures += 1
    guard failures <= policy.limit else { return .giveUp }
    if policy.heedsRetryAfter, let retryAfter {
      return .retry(delay: min(policy.maximumDelay, max(.zero, retryAfter)))
    }
    if failures == 1, reached > 0, error.kind != .httpStatus {
      return .retry(delay: min(policy.maximumDelay, Self.shortDelay))
    }
    return .retry(delay: policy.backoff.delay(retry: failures, maximum: policy.maximumDelay, random: random))
  }

  private func isWorthRetrying(_ error: HTTPError, hasBytes: Bool) -> Bool {
    switch error.kind {
    case .cancelled, .shutdown, .totalTimeout: return false
    case .httpStatus:
      guard let status = error.status else { return false }
      let head = ResponseHead(status: status)
      return policy.rules.contains { $0.matches(.head(head)) }
    // A name that was found before isn't wrong.
    case .hostNotResolved, .proxyNotResolved:
      return hasBytes || policy.rules.contains { $0.matches(.failure(error)) }
    default: return policy.rules.contains { $0.matches(.failure(error)) }
    }
  }
}
