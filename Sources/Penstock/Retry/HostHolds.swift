import Synchronization

/// Origins that asked to be left alone for a while (Retry-After), and until when.
final class HostHolds: Sendable {
  /// Above it, those that are over are forgotten.
  private static let sweepCount = 256
  private let holds = Mutex<[String: MonotonicInstant]>([:])

  /// Whether no origin has asked for it, as is usual.
  var isEmpty: Bool { holds.withLock { $0.isEmpty } }

  /// From now on nothing goes to the origin until then.
  func hold(_ origin: String, until: MonotonicInstant, now: MonotonicInstant) {
    holds.withLock { holds in
      if holds.count >= Self.sweepCount { holds = holds.filter { $0.value > now } }
      holds[origin] = max(until, holds[origin] ?? until)
    }
  }

  /// How long the origin wants to be left alone; nil when it doesn't.
  func wait(_ origin: String, now: MonotonicInstant) -> Duration? {
    holds.withLock { holds in
      guard let until = holds[origin] else { return nil }
      if until > now { return until - now }
      holds[origin] = nil
      return nil
    }
  }
}
