import Testing

@testable import Penstock

@Suite struct MonotonicInstantTests {
  @Test func `it is the same moment on both clocks, there and back`() {
    for offset in [Duration.zero, .seconds(-3600), .milliseconds(1500), .seconds(86_400 * 365)] {
      let instant = MonotonicInstant.now + offset
      #expect(MonotonicInstant(ContinuousClock.Instant(instant)) == instant)
    }
    // Both read one clock: what is between is the time between two looks at it.
    let before = MonotonicInstant.now
    let between = MonotonicInstant(ContinuousClock.now)
    let after = MonotonicInstant.now
    #expect(between > before - .milliseconds(100) && between < after + .milliseconds(100))
  }

  @Test func `sums beyond all times stay there`() {
    let now = MonotonicInstant.now
    let never = now + .seconds(Int64.max)
    #expect(never > now && never + .seconds(Int64.max) >= never && now - never < .zero)
    #expect(now - .seconds(Int64.max) < now)
  }
}
