import StreamCore

/// The limits of time of one exchange, on whatever monotonic clock in nanoseconds the caller reads.
struct TransferDeadlines: Sendable {
  /// An exchange that has been open for so long counts as long-lived.
  static let longLivedAge: UInt64 = 30_000_000_000

  private let limits: TimeLimits
  private let called: UInt64
  private var began: UInt64 = 0
  private var requestSent: UInt64 = 0
  private var lastProgress: UInt64 = 0
  private var isPromoted: Bool

  init(limits: TimeLimits, called: UInt64, isLongLived: Bool) {
    self.limits = limits
    self.called = called
    self.isPromoted = isLongLived
  }

  mutating func began(at now: UInt64) {
    began = now
    lastProgress = now
  }

  mutating func requestSent(at now: UInt64) {
    requestSent = now
    lastProgress = now
  }

  /// The peer took or gave a byte, or is free of blame since the reader or feeder was waited for.
  mutating func progressed(at now: UInt64) { lastProgress = now }

  var queued: UInt64 { began > called ? began - called : 0 }

  enum Check: Sendable, Equatable {
    /// Nothing is due before that instant; nil: never.
    case sleep(until: UInt64?)
    case passed(HTTPError.Kind, Duration)
    /// Old enough to count as long-lived.
    case promote
  }

  /// `isWaitingForUs`: the reader or the feeder is who holds things up.
  mutating func check(
    _ phase: TransferStateMachine.Phase, isWaitingForUs: Bool, now: UInt64
  ) -> Check {
    var next: UInt64?
    func due(_ limit: Duration?, since start: UInt64) -> Duration? {
      guard let limit else { return nil }
      let at = start &+ Self.nanoseconds(limit)
      if at <= now { return limit }
      next = min(next ?? at, at)
      return nil
    }
    /// A limit of a later phase, which nobody tells us the begin of: it can't pass before that.
    func upcoming(_ limit: Duration?) {
      guard let limit else { return }
      let at = now &+ max(1, Self.nanoseconds(limit))
      next = min(next ?? at, at)
    }
    if let limit = due(limits.total, since: called) { return .passed(.totalTimeout, limit) }
    switch phase {
    case .queued:
      if let limit = due(limits.admission, since: called) { return .passed(.admissionTimeout, limit) }
    case .resolving, .connecting:
      if let limit = due(limits.connect, since: began) { return .passed(.connectTimeout, limit) }
      upcoming(limits.firstByte)
      upcoming(limits.idle)
    case .awaitingHead:
      if let limit = due(limits.firstByte, since: requestSent) { return .passed(.firstByteTimeout, limit) }
      upcoming(limits.idle)
    case .sending, .receiving:
      if isWaitingForUs { lastProgress = now }
      if let limit = due(limits.idle, since: lastProgress) { return .passed(.idleTimeout, limit) }
      if phase == .sending { upcoming(limits.firstByte) }
    case .abandoned, .ended:
      return .sleep(until: nil)
    }
    if !isPromoted, phase != .queued {
      let at = began &+ Self.longLivedAge
      if at <= now {
        isPromoted = true
        return .promote
      }
      next = min(next ?? at, at)
    }
    return .sleep(until: next)
  }

  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    // A limit of more than a century is none.
    if seconds > 4_000_000_000 { return UInt64.max / 4 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
