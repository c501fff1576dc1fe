@testable import CurlTransport
import StreamCore
import Testing

struct TransferDeadlinesTests {
  private static let second: UInt64 = 1_000_000_000

  private func deadlines(isLongLived: Bool = true, _ change: (inout TimeLimits) -> Void = { _ in })
    -> TransferDeadlines
  {
    var limits = TimeLimits()
    limits.admission = .seconds(1)
    limits.connect = .seconds(2)
    limits.firstByte = .seconds(3)
    limits.idle = .seconds(4)
    change(&limits)
    return TransferDeadlines(limits: limits, called: 100 * Self.second, isLongLived: isLongLived)
  }

  private func at(_ seconds: Double) -> UInt64 { UInt64((100 + seconds) * 1e9) }

  @Test func `each limit is due in its own phase`() {
    var limits = deadlines()
    #expect(limits.check(.queued, isWaitingForUs: false, now: at(0.5)) == .sleep(until: at(1)))
    #expect(
      limits.check(.queued, isWaitingForUs: false, now: at(1)) == .passed(.admissionTimeout, .seconds(1)))
    limits.began(at: at(10))
    for phase in [TransferStateMachine.Phase.resolving, .connecting] {
      #expect(limits.check(phase, isWaitingForUs: false, now: at(11)) == .sleep(until: at(12)))
      #expect(
        limits.check(phase, isWaitingForUs: false, now: at(12)) == .passed(.connectTimeout, .seconds(2)))
    }
    limits.requestSent(at: at(20))
    #expect(limits.check(.sending, isWaitingForUs: false, now: at(23)) == .sleep(until: at(24)))
    #expect(limits.check(.sending, isWaitingForUs: false, now: at(24)) == .passed(.idleTimeout, .seconds(4)))
    #expect(limits.check(.awaitingHead, isWaitingForUs: false, now: at(22)) == .sleep(until: at(23)))
    #expect(
      limits.check(.awaitingHead, isWaitingForUs: false, now: at(23))
        == .passed(.firstByteTimeout, .seconds(3)))
    limits.progressed(at: at(30))
    #expect(limits.check(.receiving, isWaitingForUs: false, now: at(33)) == .sleep(until: at(34)))
    #expect(
      limits.check(.receiving, isWaitingForUs: false, now: at(34)) == .passed(.idleTimeout, .seconds(4)))
  }

  @Test func `nothing is due when it is over`() {
    var limits = deadlines { $0.total = .seconds(1) }
    limits.began(at: at(0))
    // The total limit of an abandoned exchange has no caller to tell; it is asked for no more.
    #expect(limits.check(.ended, isWaitingForUs: false, now: at(0.5)) == .sleep(until: nil))
    #expect(limits.check(.abandoned, isWaitingForUs: false, now: at(0.5)) == .sleep(until: nil))
  }

  @Test func `the pauses of reader and feeder don't count`() {
    for phase in [TransferStateMachine.Phase.sending, .receiving] {
      var limits = deadlines()
      limits.began(at: at(0))
      // While sending it also looks out for the first-byte limit, which nobody tells the begin of.
      let next = phase == .sending ? at(63) : at(64)
      #expect(limits.check(phase, isWaitingForUs: true, now: at(60)) == .sleep(until: next))
      #expect(limits.check(phase, isWaitingForUs: false, now: at(63)) == .sleep(until: at(64)))
      #expect(limits.check(phase, isWaitingForUs: false, now: at(64)) == .passed(.idleTimeout, .seconds(4)))
    }
  }

  @Test func `the total limit runs from the call through all phases and goes first`() {
    var limits = deadlines { $0.total = .seconds(1) }
    #expect(limits.check(.queued, isWaitingForUs: false, now: at(1)) == .passed(.totalTimeout, .seconds(1)))
    limits.began(at: at(0.9))
    #expect(limits.check(.receiving, isWaitingForUs: true, now: at(0.9)) == .sleep(until: at(1)))
    #expect(limits.check(.receiving, isWaitingForUs: true, now: at(1)) == .passed(.totalTimeout, .seconds(1)))
  }

  @Test func `without limits there is nothing to wake for`() {
    var limits = deadlines {
      $0.admission = nil
      $0.connect = nil
      $0.firstByte = nil
      $0.idle = nil
    }
    limits.began(at: at(0))
    limits.requestSent(at: at(0))
    for phase in TransferStateMachineTests.all {
      #expect(limits.check(phase, isWaitingForUs: false, now: .max / 2) == .sleep(until: nil))
    }
  }

  @Test func `an old exchange is promoted once`() {
    var limits = deadlines(isLongLived: false) { $0.idle = nil }
    limits.began(at: at(5))
    #expect(limits.check(.receiving, isWaitingForUs: false, now: at(34)) == .sleep(until: at(35)))
    #expect(limits.check(.receiving, isWaitingForUs: false, now: at(35)) == .promote)
    #expect(limits.check(.receiving, isWaitingForUs: false, now: at(36)) == .sleep(until: nil))
  }

  @Test func `waiting for admission doesn't make old`() {
    var limits = deadlines(isLongLived: false) { $0.admission = nil }
    #expect(limits.check(.queued, isWaitingForUs: false, now: at(100)) == .sleep(until: nil))
    #expect(limits.queued == 0)
    limits.began(at: at(100))
    #expect(limits.queued == 100 * Self.second)
  }

  @Test func `a limit of zero is due at once`() {
    var limits = deadlines { $0.admission = .zero }
    #expect(limits.check(.queued, isWaitingForUs: false, now: at(0)) == .passed(.admissionTimeout, .zero))
  }

  @Test func `huge and negative durations neither trap nor pass`() {
    #expect(TimeLimits.Nanoseconds.of(.seconds(-5)) == 0)
    #expect(TimeLimits.Nanoseconds.of(.nanoseconds(-1)) == 0)
    #expect(TimeLimits.Nanoseconds.of(.zero) == 0)
    #expect(TimeLimits.Nanoseconds.of(.milliseconds(1500)) == 1_500_000_000)
    #expect(TimeLimits.Nanoseconds.of(.seconds(Int64.max)) == UInt64.max / 4)
    #expect(TimeLimits.Nanoseconds.of(.seconds(4_000_000_000)) == 4_000_000_000_000_000_000)
    for huge in [Duration.seconds(Int64.max), .seconds(4_000_000_000)] {
      var limits = deadlines { $0.admission = huge }
      guard case .sleep(.some) = limits.check(.queued, isWaitingForUs: false, now: at(1_000_000)) else {
        Issue.record("a huge limit has passed")
        return
      }
    }
  }
}
