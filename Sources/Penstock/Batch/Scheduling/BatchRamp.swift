/// How many exchanges may run at the start of a batch: few at first, so that names aren't looked up and
/// connections opened all at once. Every exchange that ends well makes room for one more, and time does too, so
/// that slow servers don't hold it back.
struct BatchRamp {
  private let total: Int
  private let isOn: Bool
  private let begin: MonotonicInstant
  private var earned = 0

  private static let first = 16
  /// The allowance doubles each time this has passed.
  private static let doubling = Duration.milliseconds(40)

  init(total: Int, isOn: Bool, begin: MonotonicInstant) {
    self.total = total
    self.begin = begin
    self.isOn = isOn && total > Self.first
  }

  /// How many may run now.
  func limit(at now: MonotonicInstant) -> Int {
    guard isOn, earned < total else { return total }
    return min(total, earned + (Self.first << doublings(now)))
  }

  /// When more may run, where only time has to pass.
  func nextGrowth(after now: MonotonicInstant) -> MonotonicInstant? {
    guard limit(at: now) < total else { return nil }
    return begin + Self.doubling * (doublings(now) + 1)
  }

  mutating func finished() { if earned < total { earned += 1 } }

  private func doublings(_ now: MonotonicInstant) -> Int {
    min(24, max(0, Int((now - begin) / Self.doubling)))
  }
}
