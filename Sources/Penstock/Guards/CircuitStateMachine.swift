/// Whether a circuit lets requests through.
public enum CircuitState: String, Sendable, Hashable {
  /// All go through, and are counted.
  case closed
  /// None goes through until a time has passed.
  case open
  /// A few go through to try whether the server is well again.
  case halfOpen = "half_open"
}

/// The circuit of one origin. Pure.
struct CircuitStateMachine: Sendable {
  enum Admission: Sendable, Equatable {
    /// It may be sent; the number tells which life of the circuit it belongs to.
    case pass(life: Int)
    /// It may not, for so long.
    case refuse(retryIn: Duration)
  }

  enum Result: Sendable { case success, failure, neither }

  struct Change: Sendable, Equatable {
    let from: CircuitState
    let to: CircuitState
  }

  private let settings: CircuitBreaker.Settings
  private(set) var state = CircuitState.closed
  /// Grows with each change: results of an earlier life don't count.
  private var life = 0
  private var opensUntil: MonotonicInstant?
  private var window: [Bool] = []
  private var position = 0
  private var failures = 0
  private var probes = 0
  private var successes = 0
  /// How often it was opened without having been closed between.
  private var reopenings = 0

  init(_ settings: CircuitBreaker.Settings) { self.settings = settings }

  /// What `admit` would answer with, where all go through.
  var lifeIfClosed: Int? { state == .closed ? life : nil }

  mutating func admit(at now: MonotonicInstant) -> (Admission, Change?) {
    var change: Change?
    if state == .open {
      if let opensUntil, now < opensUntil { return (.refuse(retryIn: opensUntil - now), nil) }
      change = enter(.halfOpen)
    }
    guard state == .halfOpen else { return (.pass(life: life), change) }
    guard probes + successes < settings.probes else {
      return (.refuse(retryIn: settings.openTime), change)
    }
    probes += 1
    return (.pass(life: life), change)
  }

  /// - Parameter now: asked only when the circuit opens.
  mutating func ended(
    _ result: Result, life: Int, at now: @autoclosure () -> MonotonicInstant
  ) -> Change? {
    guard life == self.life else { return nil }
    switch (state, result) {
    case (.closed, .neither), (.open, _): return nil
    case (.closed, let result):
      count(result == .failure)
      guard window.count >= settings.minimumCalls,
        Double(failures) >= settings.failureRatio * Double(window.count)
      else { return nil }
      return open(now())
    case (.halfOpen, .neither):
      probes = max(0, probes - 1)
      return nil
    case (.halfOpen, .failure):
      reopenings += 1
      return open(now())
    case (.halfOpen, .success):
      probes = max(0, probes - 1)
      successes += 1
      guard successes >= settings.probes else { return nil }
      reopenings = 0
      return enter(.closed)
    }
  }

  private mutating func count(_ failed: Bool) {
    if window.count < settings.window {
      window.append(failed)
    } else {
      if window[position] { failures -= 1 }
      window[position] = failed
      position = (position + 1) % settings.window
    }
    if failed { failures += 1 }
  }

  private mutating func open(_ now: MonotonicInstant) -> Change {
    var time = settings.openTime
    for _ in 0..<min(reopenings, 16) { time = min(time * 2, settings.longestOpenTime) }
    opensUntil = now + time
    return enter(.open)
  }

  private mutating func enter(_ next: CircuitState) -> Change {
    let change = Change(from: state, to: next)
    state = next
    life += 1
    window = []
    position = 0
    failures = 0
    probes = 0
    successes = 0
    return change
  }
}
