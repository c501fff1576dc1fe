import TestSupport
import Testing

@testable import Penstock

@Suite struct BatchSchedulerTests {
  private let begin = MonotonicInstant.now

  private func scheduler(
    total: Int = 8, perHost: Int = 8, rate: BatchRate? = nil, lookahead: Int = 100,
    _ change: (inout BatchLimits) -> Void = { _ in }
  ) -> BatchScheduler {
    var limits = BatchLimits(total: total, perHost: perHost, ratePerHost: rate)
    limits.rampsUp = false
    change(&limits)
    return BatchScheduler(limits, lookahead: lookahead, begin: begin)
  }

  /// All that can be started now.
  private func starts(_ scheduler: inout BatchScheduler, at now: MonotonicInstant) -> [Int] {
    var started: [Int] = []
    while case .start(let ticket) = scheduler.next(now: now) { started.append(ticket) }
    return started
  }

  @Test func `inputs are read one at a time, while there is room for them`() {
    var scheduler = scheduler(total: 2)
    #expect(scheduler.next(now: begin) == .read)
    let first = scheduler.add(host: "a", priority: 0, now: begin)
    #expect(scheduler.next(now: begin) == .start(first))
    #expect(scheduler.next(now: begin) == .read)
    let second = scheduler.add(host: "a", priority: 0, now: begin)
    #expect(scheduler.next(now: begin) == .start(second))
    #expect(scheduler.next(now: begin) == .wait(until: nil))
    scheduler.finished(first, .answered, transferred: 0, held: 0, now: begin)
    #expect(scheduler.next(now: begin) == .read)
    scheduler.mayRead = false
    #expect(scheduler.next(now: begin) == .wait(until: nil))
  }

  @Test func `a host has no more than its limit, and others go past it`() {
    var scheduler = scheduler(perHost: 2)
    let slow = (0..<4).map { _ in scheduler.add(host: "slow", priority: 0, now: begin) }
    let quick = scheduler.add(host: "quick", priority: 0, now: begin)
    #expect(Set(starts(&scheduler, at: begin)) == [slow[0], slow[1], quick])
    scheduler.finished(slow[0], .answered, transferred: 0, held: 0, now: begin)
    #expect(starts(&scheduler, at: begin) == [slow[2]])
  }

  @Test func `reading ahead ends at its bound`() {
    var scheduler = scheduler(perHost: 1, lookahead: 3)
    var read = 0
    while true {
      switch scheduler.next(now: begin) {
      case .read:
        read += 1
        _ = scheduler.add(host: "one", priority: 0, now: begin)
      case .start: break
      case .wait:
        #expect(read == 4, "one runs, three wait")
        return
      }
    }
  }

  @Test func `hosts take turns whatever each has waiting`() {
    var scheduler = scheduler(total: 1, perHost: 1)
    var host: [Int: String] = [:]
    for _ in 0..<6 { host[scheduler.add(host: "many", priority: 0, now: begin)] = "many" }
    for _ in 0..<2 { host[scheduler.add(host: "few", priority: 0, now: begin)] = "few" }
    var order: [String] = []
    while case .start(let ticket) = scheduler.next(now: begin) {
      order.append(host[ticket] ?? "")
      scheduler.finished(ticket, .answered, transferred: 0, held: 0, now: begin)
    }
    #expect(order == ["many", "few", "many", "few", "many", "many", "many", "many"])
  }

  @Test func `an end of its own doesn't cost a host its turn`() {
    var scheduler = scheduler(total: 3, perHost: 2)
    let busy = (0..<4).map { _ in scheduler.add(host: "busy", priority: 0, now: begin) }
    #expect(starts(&scheduler, at: begin) == [busy[0], busy[1]])
    let other = (0..<4).map { _ in scheduler.add(host: "other", priority: 0, now: begin) }
    #expect(starts(&scheduler, at: begin) == [other[0]])
    // Busy comes into the ring behind other, and stays where it is when its second one ends.
    scheduler.finished(busy[0], .answered, transferred: 0, held: 0, now: begin)
    #expect(scheduler.next(now: begin) == .start(other[1]))
    scheduler.finished(other[0], .answered, transferred: 0, held: 0, now: begin)
    scheduler.finished(busy[1], .answered, transferred: 0, held: 0, now: begin)
    #expect(scheduler.next(now: begin) == .start(busy[2]))
  }

  @Test func `hosts share bytes: large bodies cost turns`() {
    var scheduler = scheduler(total: 1, perHost: 1)
    var counts: [String: Int] = [:]
    var tickets: [Int: String] = [:]
    for _ in 0..<300 {
      tickets[scheduler.add(host: "large", priority: 0, now: begin)] = "large"
      tickets[scheduler.add(host: "small", priority: 0, now: begin)] = "small"
    }
    for _ in 0..<300 {
      guard case .start(let ticket) = scheduler.next(now: begin), let host = tickets[ticket] else { break }
      counts[host, default: 0] += 1
      let bytes: Int64 = host == "large" ? 256 << 10 : 1 << 10
      scheduler.finished(ticket, .answered, transferred: bytes, held: 0, now: begin)
    }
    let large = counts["large"] ?? 0
    #expect(large > 50 && large < 90, "about a fifth: \(large)")
  }

  @Test func `the more urgent goes first, over all hosts and within one`() {
    var scheduler = scheduler(total: 1, perHost: 1)
    let low = scheduler.add(host: "a", priority: -1, now: begin)
    let usual = scheduler.add(host: "a", priority: 0, now: begin)
    let other = scheduler.add(host: "b", priority: 5, now: begin)
    let high = scheduler.add(host: "a", priority: 9, now: begin)
    var order: [Int] = []
    while case .start(let ticket) = scheduler.next(now: begin) {
      order.append(ticket)
      scheduler.finished(ticket, .answered, transferred: 0, held: 0, now: begin)
    }
    #expect(order == [high, other, usual, low])
  }

  @Test func `a rate spreads the starts of each host`() {
    var scheduler = scheduler(rate: .perSecond(10))
    let a = (0..<3).map { _ in scheduler.add(host: "a", priority: 0, now: begin) }
    let b = scheduler.add(host: "b", priority: 0, now: begin)
    #expect(Set(starts(&scheduler, at: begin)) == [a[0], b])
    scheduler.mayRead = false
    guard case .wait(let time?) = scheduler.next(now: begin) else { return #expect(Bool(false)) }
    #expect(time - begin > .milliseconds(99) && time - begin < .milliseconds(101))
    #expect(starts(&scheduler, at: begin + .milliseconds(50)) == [])
    #expect(starts(&scheduler, at: time) == [a[1]])
    #expect(starts(&scheduler, at: begin + .seconds(5)) == [a[2]])
  }

  @Test func `Retry-After holds back its host alone`() {
    var scheduler = scheduler(perHost: 1)
    scheduler.mayRead = false
    let a = (0..<2).map { _ in scheduler.add(host: "a", priority: 0, now: begin) }
    let b = (0..<2).map { _ in scheduler.add(host: "b", priority: 0, now: begin) }
    #expect(starts(&scheduler, at: begin) == [a[0], b[0]])
    scheduler.hold(hostOf: a[0], until: begin + .seconds(30), now: begin)
    scheduler.finished(a[0], .overloaded, transferred: 0, held: 0, now: begin)
    scheduler.finished(b[0], .answered, transferred: 0, held: 0, now: begin)
    #expect(starts(&scheduler, at: begin) == [b[1]])
    #expect(scheduler.next(now: begin) == .wait(until: begin + .seconds(30)))
    #expect(scheduler.nextDeadline(now: begin) == begin + .seconds(30))
    #expect(starts(&scheduler, at: begin + .seconds(30)) == [a[1]])
  }

  @Test func `a repeat gives its place away and comes first in its time`() {
    var scheduler = scheduler(total: 1, perHost: 1)
    scheduler.mayRead = false
    let a = scheduler.add(host: "a", priority: 0, now: begin)
    let b = scheduler.add(host: "a", priority: 0, now: begin)
    let c = scheduler.add(host: "a", priority: 0, now: begin)
    #expect(starts(&scheduler, at: begin) == [a])
    scheduler.again(a, .other, at: begin + .seconds(1), now: begin)
    #expect(starts(&scheduler, at: begin) == [b])
    scheduler.finished(b, .answered, transferred: 0, held: 0, now: begin)
    #expect(starts(&scheduler, at: begin + .seconds(1)) == [a])
    scheduler.finished(a, .answered, transferred: 0, held: 0, now: begin)
    #expect(starts(&scheduler, at: begin + .seconds(1)) == [c])
  }

  @Test func `bytes in flight bound what is started, but one always runs`() {
    var scheduler = scheduler { $0.bytesInFlight = .bytes(1000) }
    scheduler.mayRead = false
    let tickets = (0..<4).map { _ in scheduler.add(host: "a", priority: 0, now: begin) }
    guard case .start(let first) = scheduler.next(now: begin) else { return #expect(Bool(false)) }
    scheduler.sized(first, bytes: 5000)
    #expect(scheduler.next(now: begin) == .wait(until: nil))
    scheduler.finished(first, .answered, transferred: 5000, held: 5000, now: begin)
    #expect(scheduler.next(now: begin) == .wait(until: nil), "its result is held")
    scheduler.taken(bytes: 5000)
    #expect(scheduler.heldBytes == 0)
    #expect(scheduler.next(now: begin) == .start(tickets[1]))
  }

  @Test func `a start is a ramp, by ends and by time`() {
    var scheduler = scheduler(total: 100, perHost: 100) { $0.rampsUp = true }
    scheduler.mayRead = false
    for _ in 0..<200 { _ = scheduler.add(host: "a", priority: 0, now: begin) }
    let first = starts(&scheduler, at: begin)
    #expect(first.count == 16)
    #expect(scheduler.nextDeadline(now: begin).map { $0 > begin } == true)
    for ticket in first { scheduler.finished(ticket, .answered, transferred: 0, held: 0, now: begin) }
    #expect(starts(&scheduler, at: begin).count == 32)
    #expect(starts(&scheduler, at: begin + .seconds(1)).count == 68)
    #expect(scheduler.running == 100)
  }

  @Test func `hosts are forgotten, but not what they asked for`() {
    var scheduler = scheduler()
    for index in 0..<20_000 {
      let ticket = scheduler.add(host: "h\(index)", priority: 0, now: begin)
      _ = scheduler.next(now: begin)
      if index == 0 { scheduler.hold(hostOf: ticket, until: begin + .seconds(60), now: begin) }
      scheduler.finished(ticket, .answered, transferred: 0, held: 0, now: begin)
    }
    #expect(scheduler.knownHosts < 9000)
    scheduler.mayRead = false
    _ = scheduler.add(host: "h0", priority: 0, now: begin)
    #expect(starts(&scheduler, at: begin) == [])
  }

  /// Random inputs, ends, repeats and holds against a model that counts.
  @Test(arguments: 0..<40) func `no limit is ever exceeded and nobody is forgotten`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let total = 1 + Int.random(in: 0..<10, using: &random)
    let perHost = 1 + Int.random(in: 0..<4, using: &random)
    var scheduler = scheduler(
      total: total, perHost: perHost, lookahead: 1 + Int.random(in: 0..<50, using: &random)
    ) {
      if seed % 3 == 0 { $0.adaptation = BatchAdaptation() }
      if seed % 4 == 0 { $0.ratePerHost = .perSecond(100, burst: 2) }
      $0.rampsUp = seed % 2 == 0
    }
    var now = begin
    var left = 300
    var hostOf: [Int: Int] = [:]
    var running: [Int] = []
    var ended = 0
    var heldUntil: [Int: MonotonicInstant] = [:]
    for _ in 0..<200_000 where ended < 300 {
      scheduler.mayRead = left > 0
      switch scheduler.next(now: now) {
      case .read:
        #expect(left > 0)
        left -= 1
        let host = Int.random(in: 0..<6, using: &random)
        hostOf[scheduler.add(host: "\(host)", priority: Int.random(in: 0..<3, using: &random), now: now)] =
          host
        continue
      case .start(let ticket):
        let host = hostOf[ticket] ?? -1
        #expect(!running.contains(ticket))
        #expect(heldUntil[host].map { $0 <= now } ?? true)
        running.append(ticket)
        #expect(running.count <= total)
        #expect(running.count { hostOf[$0] == host } <= perHost)
      case .wait(let until):
        if running.isEmpty {
          // Only time can help, and the scheduler says how long.
          guard let until else {
            Issue.record("nothing runs and nothing will")
            return
          }
          now = max(now, until)
          continue
        }
      }
      now += .microseconds(Int.random(in: 0..<3000, using: &random))
      guard !running.isEmpty, Int.random(in: 0..<2, using: &random) == 0 else { continue }
      let ticket = running.remove(at: Int.random(in: 0..<running.count, using: &random))
      let host = hostOf[ticket] ?? -1
      switch Int.random(in: 0..<6, using: &random) {
      case 0: scheduler.again(ticket, .overloaded, at: now + .milliseconds(5), now: now)
      case 1:
        heldUntil[host] = max(now + .milliseconds(20), heldUntil[host] ?? now)
        scheduler.hold(hostOf: ticket, until: now + .milliseconds(20), now: now)
        scheduler.finished(ticket, .overloaded, transferred: 10, held: 0, now: now)
        ended += 1
      default:
        scheduler.finished(ticket, .answered, transferred: 100, held: 0, now: now)
        ended += 1
      }
      #expect(scheduler.running == running.count)
    }
    #expect(ended == 300)
    #expect(scheduler.waiting == 0)
    #expect(scheduler.heldBytes == 0)
  }

  @Test func `what waits can be taken, repeats included`() {
    var scheduler = scheduler(total: 1)
    let first = scheduler.add(host: "a", priority: 0, now: begin)
    let second = scheduler.add(host: "b", priority: 3, now: begin)
    let third = scheduler.add(host: "a", priority: 0, now: begin)
    #expect(scheduler.next(now: begin) == .start(second))
    scheduler.again(second, .other, at: begin + .seconds(9), now: begin)
    #expect(Set(scheduler.takeWaiting()) == [first, second, third])
    #expect(scheduler.waiting == 0)
    scheduler.mayRead = false
    #expect(scheduler.next(now: begin + .seconds(60)) == .wait(until: nil))
    let next = scheduler.add(host: "a", priority: 0, now: begin)
    #expect(scheduler.next(now: begin) == .start(next))
  }
}

@Suite struct BatchAdaptationTests {
  private let begin = MonotonicInstant.now

  @Test func `it grows while answers stay quick, up to the limit`() {
    var limit = BatchAdaptiveLimit(BatchAdaptation(), maximum: 32)
    #expect(limit.limit == 4)
    for _ in 0..<500 { limit.answered(after: .milliseconds(10), running: limit.limit) }
    #expect(limit.limit == 32)
  }

  @Test func `it doesn't grow while it isn't used`() {
    var limit = BatchAdaptiveLimit(BatchAdaptation(), maximum: 32)
    for _ in 0..<500 { limit.answered(after: .milliseconds(10), running: 1) }
    #expect(limit.limit == 4)
  }

  @Test func `it shrinks when answers become slow`() {
    var limit = BatchAdaptiveLimit(BatchAdaptation(), maximum: 64)
    for _ in 0..<500 { limit.answered(after: .milliseconds(10), running: limit.limit) }
    for _ in 0..<60 { limit.answered(after: .milliseconds(100), running: limit.limit) }
    #expect(limit.limit < 48)
  }

  @Test func `it is halved once for what was under way together`() {
    var limit = BatchAdaptiveLimit(BatchAdaptation(), maximum: 64)
    for _ in 0..<500 { limit.answered(after: .milliseconds(10), running: limit.limit) }
    limit.overloaded(startedAt: begin, now: begin + .seconds(1))
    #expect(limit.limit == 32)
    limit.overloaded(startedAt: begin + .milliseconds(500), now: begin + .seconds(1))
    #expect(limit.limit == 32)
    limit.overloaded(startedAt: begin + .seconds(2), now: begin + .seconds(3))
    #expect(limit.limit == 16)
    for step in 4..<20 {
      limit.overloaded(startedAt: begin + .seconds(step), now: begin + .seconds(step) + .milliseconds(1))
    }
    #expect(limit.limit == 1)
  }
}
