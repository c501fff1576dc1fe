@testable import Penstock
import Testing

/// Progress on made-up times.
struct ProgressMeterTests {
  private func run(total: Int64?, rate: Int64, seconds: Int) -> (ProgressMeter, [TransferProgress]) {
    var meter = ProgressMeter(total: total, now: .zero)
    var values: [TransferProgress] = []
    for tick in 1...(seconds * 100) {
      let received = Int64(tick) * rate / 100
      if meter.update(received: received, decoded: received * 2, now: .milliseconds(tick * 10)) {
        values.append(meter.progress)
      }
    }
    return (meter, values)
  }

  @Test func `ten values a second, no more`() {
    #expect(run(total: nil, rate: 1000, seconds: 3).1.count == 30)
  }

  @Test func `a steady rate is seen from the first value`() {
    for value in run(total: nil, rate: 10_000, seconds: 4).1 { #expect(abs(value.rate - 10_000) < 200) }
  }

  @Test func `counts never go back, and are those of the wire and of the reader`() {
    let values = run(total: 40_000, rate: 10_000, seconds: 4).1
    for (one, next) in zip(values, values.dropFirst()) {
      #expect(one.received <= next.received && one.decoded <= next.decoded)
    }
    #expect(values.last?.received == 40_000 && values.last?.decoded == 80_000)
  }

  @Test func `the time left is what is left at that rate`() throws {
    let value = try #require(run(total: 100_000, rate: 10_000, seconds: 5).1.last)
    let eta = try #require(value.eta)
    #expect(eta > .seconds(4.8) && eta < .seconds(5.2))
    #expect(value.fraction == 0.5)
  }

  @Test func `without a total there is neither a fraction nor a time left`() {
    for value in run(total: nil, rate: 10_000, seconds: 1).1 {
      #expect(value.eta == nil && value.fraction == nil)
    }
    var meter = ProgressMeter(total: nil, now: .zero)
    #expect(meter.finish(now: .seconds(1)).eta == nil)
  }

  @Test func `a stall lets the rate sink smoothly and the time left go`() {
    var (meter, values) = run(total: 1_000_000, rate: 10_000, seconds: 4)
    var last = values.last?.rate ?? 0
    for tick in 1...600 {
      if meter.update(received: 40_000, decoded: 0, now: .seconds(4) + .milliseconds(tick * 100)) {
        #expect(meter.progress.rate < last && meter.progress.rate >= 0)
        last = meter.progress.rate
      }
    }
    #expect(last < 1)
    #expect(meter.progress.eta == nil)
  }

  @Test func `a new rate counts for two thirds after two seconds`() {
    var (meter, _) = run(total: nil, rate: 10_000, seconds: 10)
    for tick in 1...20 {
      _ = meter.update(
        received: 100_000 + Int64(tick) * 2000, decoded: 0, now: .seconds(10) + .milliseconds(tick * 100))
    }
    #expect(meter.progress.rate > 14_500 && meter.progress.rate < 18_000)
  }

  @Test func `the last value says that nothing is left`() {
    var meter = ProgressMeter(total: 10, now: .zero)
    _ = meter.update(received: 10, decoded: 10, now: .milliseconds(5))
    let last = meter.finish(now: .milliseconds(5))
    #expect(last.eta == .zero && last.fraction == 1 && last.rate == 2000)
  }

  @Test func `odd totals and times don't trap`() {
    var empty = ProgressMeter(total: 0, now: .zero)
    #expect(empty.finish(now: .zero).fraction == 1)
    var more = ProgressMeter(total: 5, now: .seconds(9))
    _ = more.update(received: 50, decoded: 0, now: .seconds(8))
    _ = more.update(received: .max, decoded: .max, now: .seconds(10))
    #expect(more.progress.fraction == 1 && more.progress.eta == .zero)
    var huge = ProgressMeter(total: .max, now: .zero)
    _ = huge.update(received: 2, decoded: 2, now: .seconds(1))
    #expect(huge.progress.eta != nil)
  }
}
