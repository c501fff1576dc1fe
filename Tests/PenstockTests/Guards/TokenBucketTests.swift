import TestSupport
import Testing

@testable import Penstock

@Suite struct TokenBucketTests {
  private static let begin = MonotonicInstant.now

  private static func take(_ bucket: inout TokenBucket, at now: MonotonicInstant) -> Bool {
    bucket.take(at: now)
  }

  @Test func `a burst goes at once, the rest at the rate`() {
    var bucket = TokenBucket(rate: 10, burst: 2, now: Self.begin)
    let waits = (0..<5).map { _ in (bucket.reserve(at: Self.begin) ?? .seconds(-1)) / .milliseconds(1) }
    #expect(waits.map { Int($0.rounded()) } == [0, 0, 100, 200, 300])
  }

  @Test func `tokens are saved up to the burst and no further`() {
    var bucket = TokenBucket(rate: 10, burst: 3, now: Self.begin)
    for _ in 0..<3 { #expect(Self.take(&bucket, at: Self.begin)) }
    #expect(!Self.take(&bucket, at: Self.begin))
    let later = Self.begin + .seconds(60)
    let tokens = bucket.tokens(at: later)
    let isFull = bucket.isFull(at: later)
    #expect(tokens == 3 && isFull)
    for _ in 0..<3 { #expect(Self.take(&bucket, at: later)) }
    #expect(!Self.take(&bucket, at: later))
  }

  @Test func `a wait that is too long takes nothing`() {
    var bucket = TokenBucket(rate: 1, burst: 1, now: Self.begin)
    #expect(bucket.reserve(at: Self.begin, longest: .zero) == .zero)
    #expect(bucket.reserve(at: Self.begin, longest: .milliseconds(500)) == nil)
    #expect(bucket.reserve(at: Self.begin, longest: .seconds(1)) == .seconds(1))
  }

  @Test func `what was refunded can be taken`() {
    var bucket = TokenBucket(rate: 1, burst: 1, now: Self.begin)
    #expect(Self.take(&bucket, at: Self.begin))
    bucket.refund()
    bucket.refund()
    #expect(Self.take(&bucket, at: Self.begin))
    #expect(!Self.take(&bucket, at: Self.begin))
  }

  @Test func `time that goes backwards stands still`() {
    var bucket = TokenBucket(rate: 1, burst: 1, now: Self.begin)
    #expect(Self.take(&bucket, at: Self.begin + .seconds(5)))
    #expect(!Self.take(&bucket, at: Self.begin))
    #expect(Self.take(&bucket, at: Self.begin + .seconds(6)))
  }

  @Test(arguments: [(Double.nan, 1.0), (0, 0), (-1, -5), (.infinity, .infinity), (1, .nan)])
  func `odd settings do no harm`(rate: Double, burst: Double) {
    var bucket = TokenBucket(rate: rate, burst: burst, now: Self.begin)
    for second in 0..<10 {
      #expect(bucket.reserve(at: Self.begin + .seconds(second)) != nil)
    }
  }

  /// Whatever the demand: never more than the burst and the rate allow in any time.
  @Test func `random demand keeps to the rate`() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      let rate = Double(generator.next(below: 50) + 1)
      let burst = Double(generator.next(below: 10) + 1)
      var bucket = TokenBucket(rate: rate, burst: burst, now: Self.begin)
      var now = Duration.zero
      var starts: [Double] = []
      for _ in 0..<100 {
        now += .milliseconds(generator.next(below: 40))
        if let wait = bucket.reserve(at: Self.begin + now, longest: .seconds(1)) {
          starts.append((now + wait) / .seconds(1))
        }
      }
      // They go in order, and n of them take at least the time that n minus the burst need.
      #expect(zip(starts, starts.dropFirst()).allSatisfy { $0 <= $1 + 1e-6 })
      for first in stride(from: 0, to: starts.count, by: 7) {
        for last in stride(from: first, to: starts.count, by: 11) {
          let needed = (Double(last - first + 1) - burst) / rate
          #expect(starts[last] - starts[first] >= needed - 1e-6)
        }
      }
    }
  }
}
