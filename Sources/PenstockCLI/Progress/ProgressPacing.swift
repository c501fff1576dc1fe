/// Decides which of many updates are shown.
struct ProgressPacing: Sendable {
  private let interval: Duration
  private var next: Duration

  /// The first update after `delay` is shown, then at most one each `interval`.
  init(interval: Duration, delay: Duration = .zero) {
    self.interval = interval
    self.next = delay
  }

  /// Whether an update is due, `elapsed` since the start.
  mutating func isDue(at elapsed: Duration) -> Bool {
    guard elapsed >= next else { return false }
    next = elapsed + interval
    return true
  }
}
