@testable import CurlTransport
import TestSupport
import Testing

struct LookupGateTests {
  private func told(_ released: [(waiter: Int, leads: String?)]) -> [String] {
    released.map { "\($0.waiter)\($0.leads.map { ":" + $0 } ?? "")" }
  }

  @Test func `one leads, the others of its name wait for the answer`() {
    var gate = LookupGate<Int>(places: 4)
    #expect(gate.enter("a", 1, now: 0) == .lead)
    #expect(gate.enter("a", 2, now: 0) == .wait)
    #expect(gate.enter("a", 3, now: 0) == .wait)
    #expect(told(gate.ended("a", resolved: true, now: 10)) == ["2", "3"])
    #expect(gate.running == 0)
  }

  @Test func `an answer is fresh for a while`() {
    var gate = LookupGate<Int>(places: 4)
    _ = gate.enter("a", 1, now: 0)
    _ = gate.ended("a", resolved: true, now: 10)
    #expect(gate.enter("a", 2, now: 9 + LookupGate<Int>.freshness) == .go)
    #expect(gate.enter("a", 3, now: 10 + LookupGate<Int>.freshness) == .lead)
  }

  @Test func `no more names than places are looked up at once`() {
    var gate = LookupGate<Int>(places: 2)
    #expect(gate.enter("a", 1, now: 0) == .lead)
    #expect(gate.enter("b", 2, now: 0) == .lead)
    #expect(gate.enter("c", 3, now: 0) == .wait)
    #expect(gate.enter("c", 4, now: 0) == .wait)
    #expect(gate.enter("d", 5, now: 0) == .wait)
    #expect(told(gate.ended("b", resolved: true, now: 1)) == ["3:c"])
    #expect(told(gate.ended("c", resolved: true, now: 1)) == ["4", "5:d"])
    #expect(gate.running == 2)
  }

  @Test func `a failure is the answer for all that waited`() {
    var gate = LookupGate<Int>(places: 2)
    _ = gate.enter("a", 1, now: 0)
    _ = gate.enter("a", 2, now: 0)
    #expect(gate.takeWaiters(of: "a") == [2])
    #expect(told(gate.ended("a", resolved: false, now: 1)).isEmpty)
    #expect(gate.enter("a", 3, now: 2) == .lead)
    #expect(gate.takeWaiters(of: "nowhere").isEmpty)
  }

  @Test func `without an answer the next of the name leads`() {
    var gate = LookupGate<Int>(places: 1)
    _ = gate.enter("a", 1, now: 0)
    _ = gate.enter("a", 2, now: 0)
    _ = gate.enter("a", 3, now: 0)
    #expect(told(gate.ended("a", resolved: false, now: 1)) == ["2:a"])
    #expect(told(gate.ended("a", resolved: true, now: 1)) == ["3"])
  }

  @Test func `an end that nobody waits for changes nothing`() {
    var gate = LookupGate<Int>(places: 1)
    #expect(gate.ended("a", resolved: true, now: 1).isEmpty)
    _ = gate.enter("a", 1, now: 0)
    _ = gate.ended("a", resolved: true, now: 1)
    #expect(gate.ended("a", resolved: false, now: 1).isEmpty)
    #expect(gate.running == 0)
  }

  @Test(arguments: [41, 42, 43]) func `keeps its promises over random events`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var gate = LookupGate<Int>(places: 3)
    var leading: [String] = []
    var waiting: Set<Int> = []
    var now: UInt64 = 0
    func take(_ released: [(waiter: Int, leads: String?)]) {
      for (waiter, leads) in released {
        if waiting.remove(waiter) == nil { Issue.record("released twice") }
        if let leads { leading.append(leads) }
      }
    }
    for step in 0..<40_000 {
      now += UInt64(random.next(below: 1_000_000_000))
      let name = "n\(random.next(below: 8))"
      if random.next(below: 3) > 0, waiting.count < 50 {
        switch gate.enter(name, step, now: now) {
        case .go: break
        case .lead: leading.append(name)
        case .wait: waiting.insert(step)
        }
      } else if !leading.isEmpty {
        let ended = leading.remove(at: random.next(below: leading.count))
        let outcome = random.next(below: 3)
        if outcome == 0 { for waiter in gate.takeWaiters(of: ended) { waiting.remove(waiter) } }
        take(gate.ended(ended, resolved: outcome == 1, now: now))
      }
      if Set(leading).count != leading.count || leading.count > 3 || gate.running != leading.count {
        Issue.record("too many look-ups at step \(step): \(leading)")
        return
      }
      if leading.isEmpty, !waiting.isEmpty {
        Issue.record("\(waiting.count) wait for nothing")
        return
      }
    }
    while let next = leading.popLast() { take(gate.ended(next, resolved: true, now: now)) }
    #expect(waiting.isEmpty && gate.running == 0)
  }
}
