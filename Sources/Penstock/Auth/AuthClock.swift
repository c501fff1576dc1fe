import Glibc

/// Time as sessions and proofs see it. Lifetimes are measured on the clock that doesn't jump; the wall's time is
/// only used for what comes from outside: a stored session, a signature's date.
package struct AuthClock: Sendable {
  /// Seconds since 1970.
  package var wall: @Sendable () -> Int64
  /// Time since some fixed moment.
  package var elapsed: @Sendable () -> Duration
  /// Waits; throws when the task is cancelled.
  package var sleep: @Sendable (Duration) async throws -> Void

  package init(
    wall: @escaping @Sendable () -> Int64, elapsed: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.wall = wall
    self.elapsed = elapsed
    self.sleep = sleep
  }

  private static let begin = ContinuousClock.now

  /// The machine's own.
  package static let system = AuthClock(
    wall: { Int64(time(nil)) }, elapsed: { ContinuousClock.now - begin },
    sleep: { try await Task.sleep(for: $0) })
}
