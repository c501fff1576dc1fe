@testable import CurlTransport
import TestSupport
import Testing

struct AdmissionStateMachineTests {
  private func limits(total: Int = 4, perHost: Int = 2, streams: Int = 3, long: Int = 2) -> AdmissionLimits {
    var limits = AdmissionLimits()
    limits.total = total
    limits.perHost = perHost
    limits.streamsPerConnection = streams
    limits.longLived = long
    return limits
  }

  private func ticket(
    _ host: String = "a", loop: Int = 0, secure: Bool = false, long: Bool = false, priority: Int = 0
  ) -> AdmissionTicket {
    AdmissionTicket(origin: host, loop: loop, isSecure: secure, isLongLived: long, priority: priority)
  }

  private func same(_ tickets: [AdmissionTicket], _ expected: [AdmissionTicket]) -> Bool {
    tickets.count == expected.count && zip(tickets, expected).allSatisfy { $0 === $1 }
  }

  @Test func `a host runs as many as it may, the rest waits in order`() {
    var machine = AdmissionStateMachine(limits: limits())
    // Those that wait and their host hold each other.
    defer { _ = machine.close() }
    let all = (0..<4).map { _ in ticket() }
    #expect(all.map { machine.enter($0) } == [.start, .start, .wait, .wait])
    #expect(machine.running == 2 && machine.waiting == 2)
    #expect(same(machine.leave(all[1]), [all[2]]))
    #expect(same(machine.leave(all[1]), []))
    #expect(same(machine.leave(all[0]), [all[3]]))
    #expect(same(machine.leave(all[2]), []))
    #expect(same(machine.leave(all[3]), []))
    #expect(machine.running == 0 && machine.waiting == 0)
  }

  @Test func `the total holds over all hosts, and hosts take turns`() {
    var machine = AdmissionStateMachine(limits: limits(total: 2, perHost: 2))
    defer { _ = machine.close() }
    let a = (0..<5).map { _ in ticket("a") }
    let b = (0..<2).map { _ in ticket("b") }
    for ticket in a { _ = machine.enter(ticket) }
    for ticket in b { #expect(machine.enter(ticket) == .wait) }
    #expect(same(machine.leave(a[0]), [a[2]]))
    #expect(same(machine.leave(a[1]), [b[0]]))
    #expect(same(machine.leave(a[2]), [a[3]]))
    #expect(same(machine.leave(b[0]), [b[1]]))
  }

  @Test func `larger priority first within a host`() {
    var machine = AdmissionStateMachine(limits: limits(perHost: 1))
    defer { _ = machine.close() }
    let first = ticket()
    _ = machine.enter(first)
    let low = ticket(priority: -1)
    let middle = [ticket(), ticket()]
    let high = ticket(loop: 1, priority: 5)
    for ticket in [low, middle[0], middle[1], high] { _ = machine.enter(ticket) }
    var order: [AdmissionTicket] = []
    var running = first
    while let next = machine.leave(running).first {
      order.append(next)
      running = next
    }
    #expect(same(order, [high, middle[0], middle[1], low]))
  }

  @Test func `one goes first until a secure host's protocol is known`() {
    var machine = AdmissionStateMachine(limits: limits())
    defer { _ = machine.close() }
    let all = (0..<6).map { _ in ticket(secure: true) }
    #expect(all.map { machine.enter($0) } == [.start, .wait, .wait, .wait, .wait, .wait])
    #expect(same(machine.learned(all[0], isHTTP2: false), [all[1]]))
    #expect(same(machine.learned(all[1], isHTTP2: false), []))
  }

  @Test func `when the first fails the next goes first`() {
    var machine = AdmissionStateMachine(limits: limits())
    defer { _ = machine.close() }
    let all = (0..<3).map { _ in ticket(secure: true) }
    for ticket in all { _ = machine.enter(ticket) }
    #expect(same(machine.leave(all[0]), [all[1]]))
    #expect(machine.running == 1)
  }

  @Test func `over HTTP/2 the streams of a loop's connection are limited, not the host`() {
    var machine = AdmissionStateMachine(limits: limits(total: 100))
    defer { _ = machine.close() }
    let all = (0..<5).map { _ in ticket(secure: true) }
    for ticket in all { _ = machine.enter(ticket) }
    #expect(same(machine.learned(all[0], isHTTP2: true), [all[1], all[2]]))
    #expect(same(machine.leave(all[0]), [all[3]]))
  }

  @Test func `a loop whose connection is full doesn't stop the others`() {
    var machine = AdmissionStateMachine(limits: limits(total: 100, streams: 1))
    defer { _ = machine.close() }
    let first = ticket(secure: true)
    _ = machine.enter(first)
    _ = machine.learned(first, isHTTP2: true)
    let blocked = ticket(secure: true)
    #expect(machine.enter(blocked) == .wait)
    let other = ticket(loop: 1, secure: true)
    #expect(machine.enter(other) == .start)
    let waits = ticket(loop: 1, secure: true)
    #expect(machine.enter(waits) == .wait)
    #expect(same(machine.leave(other), [waits]))
    #expect(same(machine.leave(first), [blocked]))
  }

  @Test func `long-lived ones have a limit of their own`() {
    var machine = AdmissionStateMachine(limits: limits())
    defer { _ = machine.close() }
    let long = (0..<3).map { _ in ticket(long: true) }
    #expect(long.map { machine.enter($0) } == [.start, .start, .wait])
    #expect(machine.enter(ticket()) == .start)
    #expect(machine.running == 1 && machine.runningLong == 2)
    #expect(same(machine.leave(long[0]), [long[2]]))
  }

  @Test func `a promoted one makes room among the calls, while there is room apart`() {
    var machine = AdmissionStateMachine(limits: limits(total: 1, long: 1))
    defer { _ = machine.close() }
    let old = ticket()
    let next = ticket("b")
    _ = machine.enter(old)
    _ = machine.enter(next)
    #expect(same(machine.promote(old), [next]))
    #expect(machine.running == 1 && machine.runningLong == 1)
    #expect(same(machine.promote(next), []))
    #expect(machine.running == 1)
    #expect(same(machine.promote(old), []))
    _ = machine.leave(old)
    #expect(machine.runningLong == 0)
  }

  @Test func `one that leaves while it waits is skipped`() {
    var machine = AdmissionStateMachine(limits: limits(perHost: 1))
    defer { _ = machine.close() }
    let all = (0..<3).map { _ in ticket() }
    for ticket in all { _ = machine.enter(ticket) }
    #expect(same(machine.leave(all[1]), []))
    #expect(machine.waiting == 1)
    #expect(same(machine.leave(all[0]), [all[2]]))
  }

  @Test func `hosts that nobody uses are forgotten when there are many`() {
    var machine = AdmissionStateMachine(limits: limits(total: 1))
    defer { _ = machine.close() }
    for index in 0..<30_000 {
      let ticket = ticket("host\(index)")
      #expect(machine.enter(ticket) == .start)
      _ = machine.leave(ticket)
    }
    #expect(machine.knownHosts <= 10_001)
  }

  @Test(arguments: [false, true])
  func `those that have left aren't kept by a queue that doesn't move`(long: Bool) {
    var machine = AdmissionStateMachine(limits: limits(perHost: 1, long: 1))
    defer { _ = machine.close() }
    let running = ticket(long: long)
    #expect(machine.enter(running) == .start)
    final class Weak { weak var ticket: AdmissionTicket? }
    var left: [Weak] = []
    for _ in 0..<1000 {
      let waiting = ticket(long: long)
      let reference = Weak()
      reference.ticket = waiting
      left.append(reference)
      #expect(machine.enter(waiting) == .wait)
      #expect(same(machine.leave(waiting), []))
    }
    let last = ticket(long: long)
    #expect(machine.enter(last) == .wait)
    #expect(left.count { $0.ticket != nil } <= 65)
    #expect(machine.waiting == 1)
    #expect(same(machine.leave(running), [last]))
  }

  @Test func `a host whose waiting ones have all left doesn't stop the next host`() {
    var machine = AdmissionStateMachine(limits: limits(total: 1))
    defer { _ = machine.close() }
    let running = ticket("a")
    let gone = ticket("b")
    let next = ticket("c")
    for ticket in [running, gone, next] { _ = machine.enter(ticket) }
    _ = machine.leave(gone)
    #expect(same(machine.leave(running), [next]))
  }

  @Test func `closing gives back those that wait and refuses later ones`() {
    var machine = AdmissionStateMachine(limits: limits(total: 1, long: 1))
    defer { _ = machine.close() }
    let running = [ticket(), ticket(long: true)]
    let waiting = [ticket(), ticket("b", loop: 1), ticket(long: true)]
    for ticket in running + waiting { _ = machine.enter(ticket) }
    #expect(machine.close().count == 3)
    #expect(machine.waiting == 0)
    #expect(machine.enter(ticket()) == .refuse)
    for ticket in running + waiting { #expect(machine.leave(ticket).isEmpty) }
    #expect(machine.running == 0 && machine.runningLong == 0)
    #expect(machine.close().isEmpty)
  }

  /// Limits are never exceeded, nobody waits while he may run, and all counts return to zero.
  @Test(arguments: [31, 32, 33, 34]) func `keeps its promises over random events`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limits = limits(
      total: 3 + random.next(below: 10), perHost: 1 + random.next(below: 4),
      streams: 1 + random.next(below: 5),
      long: 1 + random.next(below: 4))
    var machine = AdmissionStateMachine(limits: limits)
    defer { _ = machine.close() }
    var live: [AdmissionTicket] = []
    var protocols: [String: Bool] = [:]  // true: HTTP/2
    for step in 0..<30_000 {
      let isDraining = step % 3000 > 2500
      switch random.next(below: 10) {
      case 0..<5 where !isDraining && live.count < 60:
        let host = random.next(below: 5)
        let new = ticket(
          "h\(host)", loop: random.next(below: 3), secure: host > 1, long: random.next(below: 10) == 0,
          priority: random.next(below: 3))
        if machine.enter(new) != .refuse { live.append(new) }
      case 5..<8 where !live.isEmpty:
        _ = machine.leave(live.remove(at: random.next(below: live.count)))
      case 8:
        guard let probe = live.first(where: { $0.state == .running && $0.isSecure }) else { break }
        let isHTTP2 = protocols[probe.origin] ?? (random.next(below: 2) == 0)
        protocols[probe.origin] = isHTTP2
        _ = machine.learned(probe, isHTTP2: isHTTP2)
      case 9 where random.next(below: 5) == 0:
        if let old = live.first(where: { $0.state == .running }) { _ = machine.promote(old) }
      default: break
      }
      if let fault = fault(machine, live, limits, protocols) {
        Issue.record("step \(step): \(fault)")
        return
      }
    }
    for ticket in live { _ = machine.leave(ticket) }
    while let left = live.first(where: { $0.state == .running || $0.state == .runningLong }) {
      _ = machine.leave(left)
    }
    #expect(machine.running == 0 && machine.runningLong == 0 && machine.waiting == 0)
  }

  private func fault(
    _ machine: AdmissionStateMachine, _ live: [AdmissionTicket], _ limits: AdmissionLimits,
    _ protocols: [String: Bool]
  ) -> String? {
    let running = live.filter { $0.state == .running }
    let waiting = live.filter { $0.state == .waiting }
    let long = live.filter { $0.state == .runningLong }
    if running.count != machine.running || waiting.count != machine.waiting
      || long.count != machine.runningLong
    {
      return "the counts are wrong"
    }
    if running.count > limits.total { return "more than the total" }
    if long.count > limits.longLived { return "too many long-lived ones" }
    func isFull(_ host: String, _ loop: Int, secure: Bool) -> Bool {
      let here = running.filter { $0.origin == host }
      guard secure else { return here.count >= limits.perHost }
      switch protocols[host] {
      case nil: return here.count >= 1
      case false?: return here.count >= limits.perHost
      case true?:
        return here.count { $0.countsAsStream && $0.loopIndex == loop } >= limits.streamsPerConnection
      }
    }
    for ticket in waiting {
      if ticket.isLongLived {
        if long.count < limits.longLived { return "a long-lived one waits for nothing" }
      } else if running.count < limits.total,
        !isFull(ticket.origin, ticket.loopIndex, secure: ticket.isSecure)
      {
        return "one waits for nothing"
      }
    }
    for host in Set(running.map(\.origin)) {
      let here = running.filter { $0.origin == host }
      if protocols[host] == true {
        for loop in 0..<3
        where here.count(where: { $0.countsAsStream && $0.loopIndex == loop }) > limits.streamsPerConnection {
          return "too many streams"
        }
      } else if here.count > limits.perHost {
        return "too many on a host"
      }
    }
    return nil
  }
}
