/// How concurrency per host follows what the host can bear.
///
/// The limit grows while latency stays near what it was, shrinks as latency rises (a gradient of the long-term
/// to the recent mean), and is halved by each answer 429 or 503 and each time limit, once for those that were
/// under way together.
public struct BatchAdaptation: Sendable, Hashable {
  /// Where each host begins; 4.
  public var initial = 4
  /// Never less than this; 1.
  public var minimum = 1
  /// How much slower than usual answers may be before the limit shrinks; 1.5.
  public var tolerance = 1.5

  /// The defaults.
  public init() {}
}

/// The limit of one host, by `BatchAdaptation`. Pure: told of each end, asked for the limit.
struct BatchAdaptiveLimit {
  private let settings: BatchAdaptation
  private let maximum: Double
  private var exact: Double
  /// Means of the latency in seconds, long and short.
  private var usual: Double?
  private var recent: Double?
  /// Ends of exchanges that were started before this don't halve again.
  private var halvedAt: MonotonicInstant?
  private var samples = 0

  init(_ settings: BatchAdaptation, maximum: Int) {
    self.settings = settings
    self.maximum = Double(max(1, maximum))
    exact = min(self.maximum, Double(max(1, settings.initial)))
  }

  /// How many may run now.
  var limit: Int { max(1, Int(exact)) }

  /// An answer came in time. `running` is how many ran when it ended, itself included: a limit that isn't
  /// used says nothing about the host, and doesn't grow.
  mutating func answered(after latency: Duration, running: Int) {
    let seconds = max(1e-6, latency / .seconds(1))
    samples += 1
    let short = recent.map { $0 + (seconds - $0) / 8 } ?? seconds
    let long = usual.map { $0 + (seconds - $0) / Double(min(samples, 200)) } ?? seconds
    recent = short
    // What is usual follows quickly where it was too high, as after a slow start.
    usual = long > 2 * short ? long * 0.95 : long
    let gradient = max(0.5, min(1, settings.tolerance * long / short))
    let room = max(1, exact.squareRoot())
    let wanted = exact * gradient + (gradient < 1 ? 0 : room)
    if wanted > exact, running * 2 < limit { return }
    // A round of answers moves the limit by about one step.
    set(exact + (wanted - exact) / max(1, exact))
  }

  /// The host said that it is too much, or didn't answer in time.
  mutating func overloaded(startedAt: MonotonicInstant, now: MonotonicInstant) {
    if let halvedAt, startedAt < halvedAt { return }
    halvedAt = now
    set(exact / 2)
  }

  private mutating func set(_ value: Double) {
    exact = min(maximum, max(Double(max(1, settings.minimum)), value))
  }
}
