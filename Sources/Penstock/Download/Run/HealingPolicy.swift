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

  let retries: Int
  let longestDelay: Duration
  private static let firstDelay = Duration.milliseconds(250)
  /// After a loss on the way the line is likely to be good again at once.
  private static let shortDelay = Duration.milliseconds(20)
  private static let statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  private(set) var failures = 0
  private var best: Int64 = 0

  init(retries: Int, longestDelay: Duration) {
    self.retries = max(0, retries)
    self.longestDelay = longestDelay
  }

  /// `reached`: how many bytes have come in all. `random`: 0..<1.
  mutating func failed(
    _ error: HTTPError, reached: Int64, retryAfter: Duration? = nil, random: Double
  ) -> Decision {
    guard retries > 0, Self.isWorthRetrying(error, hasBytes: reached > 0) else { return .giveUp }
    if reached > best {
      best = reached
      failures = 0
    }
    failures += 1
    guard failures <= retries else { return .giveUp }
    if let retryAfter { return .retry(delay: min(longestDelay, max(.zero, retryAfter))) }
    if failures == 1, reached > 0, error.kind != .httpStatus { return .retry(delay: Self.shortDelay) }
    let factor = Double(1 << min(failures - 1, 20)) * (0.75 + 0.5 * random)
    return .retry(delay: min(longestDelay, Self.firstDelay * factor))
  }

  static func isWorthRetrying(_ error: HTTPError, hasBytes: Bool) -> Bool {
    switch error.kind {
    case .emptyReply, .sendFailed, .receiveFailed, .connectionLost, .http2Framing, .http2Stream, .truncated,
      .connectTimeout, .firstByteTimeout, .idleTimeout:
      true
    // A server that is started again in the middle; one that was never there is told at once.
    case .connectFailed, .hostNotResolved, .proxyNotResolved: hasBytes
    case .httpStatus: error.status.map { statuses.contains($0.code) } ?? false
    default: false
    }
  }
}
