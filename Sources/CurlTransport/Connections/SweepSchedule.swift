import PollLoop
import StreamCore

/// When kept connections are looked at. Pure, on the loop's clock in nanoseconds.
struct SweepSchedule: Sendable {
  /// libcurl prunes once a second at most, and counts whole seconds.
  static let slack: UInt64 = 1_100_000_000

  /// Nil: connections stay for ever.
  private let interval: UInt64?
  private var lastUse: UInt64 = 0
  /// The sweep that is due.
  private(set) var due: UInt64?

  init(_ age: ConnectionAge) {
    let limits = [age.idle, age.lifetime].compactMap { ConnectionAge.seconds($0) }
    interval = limits.min().map { UInt64($0) * 1_000_000_000 + Self.slack }
  }

  enum Action: Sendable, Equatable {
    case none
    /// A timer for then.
    case wake(at: UInt64)
  }

  /// A transfer has left its connection, maybe to be kept.
  mutating func connectionLeft(now: UInt64) -> Action {
    lastUse = now
    guard let interval, due == nil else { return .none }
    let at = now &+ interval
    due = at
    return .wake(at: at)
  }

  /// The timer has come and the sweep is done; `kept`: whether connections are left.
  mutating func swept(kept: Bool, now: UInt64) -> Action {
    due = nil
    guard let interval, kept else { return .none }
    // Those that were used since have a time of their own; what is in use is looked at again as late as that.
    let idleEnd = lastUse &+ interval
    let at = idleEnd > now ? idleEnd : now &+ interval
    due = at
    return .wake(at: at)
  }
}
