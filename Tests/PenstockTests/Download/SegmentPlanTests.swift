import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// A value that the macros can change: what they capture is immutable.
final class Held<Value> {
  var it: Value
  init(_ value: Value) { it = value }
  func change<Result>(_ body: (inout Value) -> Result) -> Result { body(&it) }
}

@Suite struct SegmentPlanTests {
  @Test func `one stream of unknown length ends where its body ends`() throws {
    let plan = Held(SegmentPlan(total: nil))
    let segment = try #require(plan.change({ $0.claim() }))
    #expect(segment.position == 0 && segment.end == .max && plan.change({ $0.claim() }) == nil)
    #expect(plan.change({ $0.arrive(segment.id, 10) }) == .take(10))
    #expect(!plan.it.isComplete)
    #expect(plan.change({ $0.end(segment.id) }) && plan.it.total == 10 && plan.it.isComplete)
  }

  @Test func `a body that ends before its range leaves the rest to be claimed`() throws {
    let plan = Held(SegmentPlan(total: 10, minimum: 1))
    let segment = try #require(plan.change({ $0.claim() }))
    #expect(plan.change({ $0.arrive(segment.id, 4) }) == .take(4))
    #expect(!plan.change({ $0.end(segment.id) }))
    let next = try #require(plan.change({ $0.claim() }))
    #expect(next.position == 4 && next.end == 10)
    #expect(plan.change({ $0.arrive(next.id, 9) }) == .takeLast(6))
    #expect(
      plan.it.isComplete && plan.change({ $0.arrive(next.id, 1) }) == .drop
        && plan.change({ $0.claim() }) == nil)
  }

  @Test func `the slowest remainder is shared when nothing else is left`() throws {
    let plan = Held(SegmentPlan(total: 8 << 20, minimum: 1 << 20))
    let first = try #require(plan.change({ $0.claim(limit: 4 << 20) }))
    let second = try #require(plan.change({ $0.claim() }))
    plan.it.measured(first.id, rate: 1000)
    plan.it.measured(second.id, rate: 10)
    let stolen = try #require(plan.change({ $0.claim() }))
    #expect(stolen.start == 6 << 20 && stolen.end == 8 << 20)
    #expect(plan.it.active[second.id]?.end == 6 << 20)
    #expect(
      plan.change({ $0.arrive(second.id, 3 << 20) }) == .takeLast(2 << 20), "what was taken away is another's"
    )
  }

  @Test func `what is too small isn't shared`() throws {
    let plan = Held(SegmentPlan(total: 3 << 20, minimum: 2 << 20))
    _ = try #require(plan.change({ $0.claim() }))
    #expect(!plan.it.hasWork && plan.change({ $0.claim() }) == nil)
  }

  @Test func `what was there before isn't asked for`() throws {
    let plan = Held(SegmentPlan(total: 100, received: ByteRanges([10..<20, 50..<100]), minimum: 1))
    let first = try #require(plan.change({ $0.claim() }))
    let second = try #require(plan.change({ $0.claim() }))
    #expect(first.start == 0 && first.end == 10 && second.start == 20 && second.end == 50)
    #expect(plan.it.count == 60 && plan.it.firstMissing == 0)
  }

  /// Workers that claim, receive, fail and are robbed in any order load each byte exactly once.
  @Test(arguments: 0..<40) func `every byte is loaded once, whatever happens`(_ seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed) + 100)
    let total = Int64(1 + generator.next(below: 200_000))
    let plan = Held(SegmentPlan(total: total, minimum: Int64(1 + generator.next(below: 20_000))))
    var loaded = [UInt8](repeating: 0, count: Int(total))
    var mine: [(id: Int, position: Int64)] = []
    var steps = 0
    while !plan.it.isComplete, steps < 100_000 {
      steps += 1
      switch generator.next(below: 10) {
      case 0...2:
        guard mine.count < 8,
          let segment = plan.change({ $0.claim(limit: Int64(1 + generator.next(below: 100_000))) })
        else {
          continue
        }
        mine.append((segment.id, segment.position))
      case 3:
        guard !mine.isEmpty else { continue }
        plan.it.release(mine.remove(at: generator.next(below: mine.count)).id)
      case 4:
        guard let one = mine.randomElement(using: &generator) else { continue }
        plan.it.measured(one.id, rate: Double(generator.next(below: 1000)))
      default:
        guard !mine.isEmpty else { continue }
        let index = generator.next(below: mine.count)
        let count = 1 + generator.next(below: 30_000)
        switch plan.change({ $0.arrive(mine[index].id, count) }) {
        case .take(let taken):
          for offset in 0..<taken { loaded[Int(mine[index].position) + offset] += 1 }
          mine[index].position += Int64(taken)
        case .takeLast(let taken):
          for offset in 0..<taken { loaded[Int(mine[index].position) + offset] += 1 }
          mine.remove(at: index)
        case .drop: mine.remove(at: index)
        }
      }
    }
    #expect(plan.it.isComplete && loaded.allSatisfy { $0 == 1 })
  }

  @Test func `the number of segments follows the gain`() {
    let tuner = Held(SegmentTuner(.automatic, total: 1 << 30, minimum: 1 << 20))
    #expect(tuner.it.wanted == 2)
    var now = Duration.zero
    func measure(_ rate: Double) {
      let wanted = tuner.it.wanted
      tuner.change { $0.measure(rate: rate, running: wanted, now: now) }
      now += .seconds(2)
      tuner.change { $0.measure(rate: rate, running: wanted, now: now) }
      now += .seconds(1)
    }
    measure(100)
    measure(150)
    #expect(tuner.it.wanted == 4)
    measure(152)
    measure(500)
    #expect(tuner.it.wanted == 4, "it has settled")
    #expect(SegmentTuner(.automatic, total: 1 << 20, minimum: 1 << 20).wanted == 1)
    #expect(SegmentTuner(.automatic, total: nil, minimum: 1 << 20).wanted == 1)
    #expect(SegmentTuner(.count(8), total: 3 << 20, minimum: 1 << 20).wanted == 3)
    #expect(SegmentTuner(.count(8), total: 100, minimum: 1 << 20).wanted == 1)
    let refused = Held(SegmentTuner(.count(8), total: 1 << 30, minimum: 1 << 20))
    refused.change({ $0.refused(running: 3) })
    #expect(refused.it.wanted == 3)
    refused.change({ $0.refused(running: 0) })
    #expect(refused.it.wanted == 1)
  }

  @Test func `fast sources get more, failing ones less, excluded ones nothing`() {
    let board = Held(SourceBoard(["a", "b", "c"]))
    #expect(
      board.change({ $0.pick() }) == 0 && board.change({ $0.pick() }) == 1 && board.change({ $0.pick() }) == 2
    )
    board.it.received(0, 1000, rate: 10)
    board.it.received(1, 1000, rate: 100)
    board.it.received(2, 1000, rate: 10)
    for index in 0..<3 { board.it.done(index) }
    #expect(board.change({ $0.pick() }) == 1 && board.change({ $0.pick() }) == 1)
    board.change({ $0.failed(1) })
    board.change({ $0.failed(1) })
    #expect(board.change({ $0.pick() }) == 0)
    board.it.exclude(0)
    board.it.exclude(2)
    #expect(board.change({ $0.pick() }) == 1, "a failing one is better than none")
    board.it.exclude(1)
    #expect(board.change({ $0.pick() }) == nil && !board.it.hasUsable)
  }
}
