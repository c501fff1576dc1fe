import Synchronization

/// How many retries all calls of a client together may make: each call earns a part of one, and a few a second
/// are always allowed. So an outage makes the load little larger, instead of several times as large.
public struct RetryBudget: Sendable, Hashable {
  /// What each call earns; 0.2, so that at most every fifth can be followed by a retry for long.
  public var ratio = 0.2
  /// What is earned each second whatever the load; 10.
  public var perSecond = 10.0
  /// What can be saved up, and is there at first; 100.
  public var burst = 100

  /// The defaults.
  public init() {}

  /// The first setting that can't be.
  var invalidSetting: String? {
    if !(0...1000).contains(ratio) { return "ratio" }
    if !(0...1_000_000).contains(perSecond) { return "perSecond" }
    return (1...1_000_000).contains(burst) ? nil : "burst"
  }

  /// The defaults.
  public static let standard = RetryBudget()
}

/// A client's budget, shared by all its calls.
final class RetryAllowance: Sendable {
  private let budget: RetryBudget
  private let bucket: Mutex<TokenBucket>

  init(_ budget: RetryBudget, now: MonotonicInstant) {
    self.budget = budget
    bucket = Mutex(TokenBucket(rate: budget.perSecond, burst: Double(budget.burst), now: now))
  }

  /// A call begins.
  func earn() { bucket.withLock { $0.refund(budget.ratio) } }

  /// Whether one more retry may be made.
  func spend(at now: MonotonicInstant) -> Bool { bucket.withLock { $0.take(at: now) } }
}
