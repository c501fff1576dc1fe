import StreamCore

/// The limits of time of one exchange, on whatever monotonic clock in nanoseconds the caller reads.
struct TransferDeadlines: Sendable {
  /// An exchange that has been open for so long counts as long-lived.
  static let longLivedAge: UInt64 = 30_000_000_000

  private let limits: TimeLimits
  private let spans: TimeLimits.Nanoseconds
  private let called: UInt64
  private var began: UInt64 = 0
  private var requestSent: UInt64 = 0
  private var lastProgress: UInt64 = 0
  private var isPromoted: Bool

  init(
    limits: TimeLimits, spans: TimeLimits.Nanoseconds? = nil, called: UInt64, isLongLived: Bool
  ) {
    self.limits = limits
    self.spans = spans ?? TimeLimits.Nanoseconds(limits)
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
    func isDue(_ span: UInt64?, since start: UInt64) -> Bool {
      guard let span else { return false }
      let at = start &+ span
      if at <= now { return true }
      next = min(next ?? at, at)
      return false
    }
    /// A limit of a later phase, which nobody tells us the begin of: it can't pass before that.
    func upcoming(_ span: UInt64?) {
      guard let span else { return }
      let at = now &+ max(1, span)
      next = min(next ?? at, at)
    }
    if isDue(spans.total, since: called), let limit = limits.total { return .passed(.totalTimeout, limit) }
    switch phase {
    case .queued:
      if isDue(spans.admission, since: called), let limit = limits.admission {
        return .passed(.admissionTimeout, limit)
      }
    case .resolving, .connecting:
      if isDue(spans.connect, since: began), let limit = limits.connect {
        return .passed(.connectTimeout, limit)
      }
      upcoming(spans.firstByte)
      upcoming(spans.idle)
    case .awaitingHead:
      if isDue(spans.firstByte, since: requestSent), let limit = limits.firstByte {
        return .passed(.firstByteTimeout, limit)
      }
      upcoming(spans.idle)
    case .sending, .receiving:
      if isWaitingForUs { lastProgress = now }
      if isDue(spans.idle, since: lastProgress), let limit = limits.idle {
        return .passed(.idleTimeout, limit)
      }
      if phase == .sending { upcoming(spans.firstByte) }
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
}
