/// A token bucket: so many tokens a second, so many at once. Pure; the caller brings the time.
///
/// Tokens are taken in advance: the balance may go below zero, and the wait that `reserve` answers is exactly
/// how long it takes to be made good. So waiters go in the order in which they came, without a queue. Time that
/// goes backwards counts as standing still.
package struct TokenBucket: Sendable {
  /// Tokens a second.
  package private(set) var rate: Double
  /// The most that can be saved up.
  package private(set) var burst: Double
  private var balance: Double
  private var updated: MonotonicInstant

  /// A bucket, full or with so many tokens; a rate or burst that isn't positive counts as the smallest one (1 token,
  /// 1 in 1,000 s).
  package init(rate: Double, burst: Double, saved: Double? = nil, now: MonotonicInstant) {
    (self.rate, self.burst) = Self.clamped(rate, burst)
    balance = min(saved ?? self.burst, self.burst)
    updated = now
  }

  /// Other numbers from now on. What is owed stays owed; what is saved up stays as far as the burst goes.
  package mutating func set(rate: Double, burst: Double, at now: MonotonicInstant) {
    refill(now)
    (self.rate, self.burst) = Self.clamped(rate, burst)
    balance = min(balance, self.burst)
  }

  private static func clamped(_ rate: Double, _ burst: Double) -> (rate: Double, burst: Double) {
    (rate.isFinite ? max(rate, 0.001) : 1e9, burst.isFinite ? max(burst, 1) : 1e9)
  }

  /// How many tokens there are; negative when some are owed.
  package mutating func tokens(at now: MonotonicInstant) -> Double {
    refill(now)
    return balance
  }

  /// Takes tokens if they are there.
  package mutating func take(_ count: Double = 1, at now: MonotonicInstant) -> Bool {
    refill(now)
    guard balance >= count else { return false }
    balance -= count
    return true
  }

  /// Takes tokens that may come later; returns how long to wait for them. Nil takes none: the wait would be
  /// longer than `longest`.
  package mutating func reserve(
    _ count: Double = 1, at now: MonotonicInstant, longest: Duration? = nil
  ) -> Duration? {
    refill(now)
    let wait = balance >= count ? Duration.zero : .seconds((count - balance) / rate)
    if let longest, wait > longest { return nil }
    balance -= count
    return wait
  }

  /// Gives back what was taken and not used.
  package mutating func refund(_ count: Double = 1) { balance = min(burst, balance + count) }

  /// Whether nothing is owed and nothing more can be saved up: then it can be forgotten.
  package mutating func isFull(at now: MonotonicInstant) -> Bool {
    refill(now)
    return balance >= burst
  }

  private mutating func refill(_ now: MonotonicInstant) {
    guard now > updated else { return }
    balance = min(burst, balance + (now - updated) / .seconds(1) * rate)
    updated = now
  }
}
