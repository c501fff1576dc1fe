import Testing

@testable import CurlTransport

struct SweepScheduleTests {
  private let second: UInt64 = 1_000_000_000
  private var slack: UInt64 { SweepSchedule.slack }

  @Test func `one timer for all that were left, then one for the last of them`() {
    var schedule = SweepSchedule(ConnectionAge(idle: .seconds(10), lifetime: nil))
    #expect(schedule.connectionLeft(now: 0) == .wake(at: 10 * second + slack))
    #expect(schedule.connectionLeft(now: 4 * second) == .none)
    let due = 10 * second + slack
    #expect(schedule.swept(kept: true, now: due) == .wake(at: 14 * second + slack))
    #expect(schedule.swept(kept: false, now: 14 * second + slack) == .none)
    #expect(schedule.due == nil)
    #expect(schedule.connectionLeft(now: 20 * second) == .wake(at: 30 * second + slack))
  }

  @Test func `what stays in use is looked at as often as the limit says`() {
    var schedule = SweepSchedule(ConnectionAge(idle: .seconds(10), lifetime: .seconds(5)))
    #expect(schedule.connectionLeft(now: 0) == .wake(at: 5 * second + slack))
    let first = 5 * second + slack
    #expect(schedule.swept(kept: true, now: first) == .wake(at: first + 5 * second + slack))
  }

  @Test func `without limits there is no timer`() {
    var schedule = SweepSchedule(ConnectionAge(idle: nil, lifetime: nil))
    #expect(schedule.connectionLeft(now: 0) == .none)
    #expect(schedule.swept(kept: true, now: 1) == .none)
  }

  @Test func `seconds are rounded up`() {
    #expect(ConnectionAge.seconds(.milliseconds(1)) == 1)
    #expect(ConnectionAge.seconds(.milliseconds(1001)) == 2)
    #expect(ConnectionAge.seconds(.zero) == 0)
    #expect(ConnectionAge.seconds(.seconds(1 << 60)) == 1_000_000_000)
    #expect(ConnectionAge.seconds(nil) == nil)
  }
}
