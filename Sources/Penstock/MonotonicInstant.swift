import Glibc

/// A moment on the clock that never jumps, in one word.
///
/// `ContinuousClock.Instant` is laid out by the runtime: each struct that holds one loses its fixed layout with it, and
/// every access to it then asks for offsets at run time. State machines that run for each request keep this instead.
package struct MonotonicInstant: Sendable, Hashable {
  /// Since some moment of the past.
  private let nanoseconds: Int64

  package static var now: MonotonicInstant {
    var time = timespec()
    // What `ContinuousClock` reads: it goes on while the machine sleeps.
    clock_gettime(CLOCK_BOOTTIME, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }

  private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The two clocks at one time.
  fileprivate static let anchor = (instant: MonotonicInstant.now, continuous: ContinuousClock.now)

  /// The same moment, to the few nanoseconds between two looks at the clock.
  package init(_ instant: ContinuousClock.Instant) {
    self = Self.anchor.instant.advanced(by: Self.anchor.continuous.duration(to: instant))
  }

  /// A limited sum: times beyond 146 years are as good as never.
  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let most: Int64 = 1 << 62
    if seconds >= most / 1_000_000_000 { return most }
    if seconds <= -most / 1_000_000_000 { return -most }
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

extension ContinuousClock.Instant {
  /// The same moment on the clock that is public.
  init(_ instant: MonotonicInstant) {
    self = MonotonicInstant.anchor.continuous.advanced(
      by: MonotonicInstant.anchor.instant.duration(to: instant))
  }
}

extension MonotonicInstant: InstantProtocol {
  package func advanced(by duration: Duration) -> MonotonicInstant {
    let (sum, overflows) = nanoseconds.addingReportingOverflow(Self.nanoseconds(duration))
    return MonotonicInstant(nanoseconds: overflows ? (nanoseconds < 0 ? .min : .max) : sum)
  }

  package func duration(to other: MonotonicInstant) -> Duration {
    let (difference, overflows) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflows ? (other.nanoseconds < 0 ? .min : .max) : difference)
  }

  package static func < (one: MonotonicInstant, other: MonotonicInstant) -> Bool {
    one.nanoseconds < other.nanoseconds
  }

  package static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
    instant.advanced(by: duration)
  }

  package static func += (instant: inout MonotonicInstant, duration: Duration) {
    instant = instant.advanced(by: duration)
  }

  package static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
    instant.advanced(by: .zero - duration)
  }

  package static func - (one: MonotonicInstant, other: MonotonicInstant) -> Duration {
    other.duration(to: one)
  }
}
