/// When a sleeping consumer is woken. Pure.
///
/// To wake a thread costs about as much as an exchange of a few kilobytes. So results wait for one another: until
/// there are enough of them, measured by what still runs, or a millisecond has passed.
struct BatchPace: Sendable {
  /// How long a result waits for others at most, in nanoseconds.
  static let delay: UInt64 = 1_000_000
  /// So many are always enough.
  private static let most = 32

  private var isSet = false
  private var hasRung = false

  enum Action: Sendable, Equatable {
    case wake
    /// The alarm is to ring after `delay`.
    case setAlarm
    case wait
  }

  /// The consumer sleeps and so many results are ready, while so many exchanges run.
  mutating func news(ready: Int, running: Int) -> Action {
    // Few that run bring few more soon.
    if hasRung || ready >= min(Self.most, running / 4) {
      hasRung = false
      return .wake
    }
    guard !isSet else { return .wait }
    isSet = true
    return .setAlarm
  }

  /// The alarm has rung, or can't be set.
  mutating func rings() {
    isSet = false
    hasRung = true
  }
}
