import TestSupport
import Testing

@testable import Penstock

@Suite struct RefreshStateMachineTests {
  private typealias Machine = RefreshStateMachine

  private func machine(window: Machine.Window? = nil) -> Machine {
    var machine = Machine(hasSession: false, window: window, holdOff: .seconds(5))
    _ = machine.replace(hasSession: true)
    return machine
  }

  @Test func `the first starts, the others wait, and all hear of the end`() {
    var machine = machine()
    let ticket = machine.ticket
    #expect(machine.join(1, .rejected(ticket), now: .zero) == .start(run: 1))
    #expect(machine.join(2, .rejected(ticket), now: .zero) == .wait)
    #expect(machine.join(3, .expiring(ticket), now: .zero) == .wait)
    #expect(machine.end(1, of: 1, .renewed, now: .zero) == .deliver(to: [1, 2, 3], stop: nil))
    // A late refusal of the old token only sends again.
    #expect(machine.join(4, .rejected(ticket), now: .zero) == .useCurrent)
    #expect(machine.ticket.generation == ticket.generation + 1)
  }

  @Test func `a failure is told to those who come too late, and holds for a while`() {
    var machine = machine()
    let ticket = machine.ticket
    #expect(machine.join(1, .rejected(ticket), now: .zero) == .start(run: 1))
    #expect(machine.end(1, of: 1, .failed(isFinal: false), now: .zero) == .deliver(to: [1], stop: nil))
    // Sent before the failure was known: whenever its answer comes.
    #expect(machine.join(2, .rejected(ticket), now: .seconds(100)) == .refuse(.lastFailure))
    let later = machine.ticket
    #expect(machine.join(3, .rejected(later), now: .seconds(4)) == .refuse(.lastFailure))
    #expect(machine.join(4, .rejected(later), now: .seconds(5)) == .start(run: 2))
  }

  @Test func `a final failure holds until the session is another one, but not for who asks`() {
    var machine = machine()
    let ticket = machine.ticket
    _ = machine.join(1, .rejected(ticket), now: .zero)
    _ = machine.end(1, of: 1, .failed(isFinal: true), now: .zero)
    #expect(machine.join(2, .rejected(machine.ticket), now: .seconds(1000)) == .refuse(.lastFailure))
    #expect(machine.join(3, .asked, now: .seconds(1000)) == .start(run: 2))
    #expect(machine.replace(hasSession: true) == Machine.Replacement(waiters: [3], stop: 2))
    #expect(machine.join(4, .rejected(machine.ticket), now: .seconds(1000)) == .start(run: 3))
  }

  @Test func `a run stops when the last waiter leaves, and its late token is taken all the same`() {
    var machine = machine()
    let ticket = machine.ticket
    _ = machine.join(1, .rejected(ticket), now: .zero)
    _ = machine.join(2, .rejected(ticket), now: .zero)
    #expect(machine.leave(1) == .goOn)
    #expect(machine.leave(1) == .goOn)
    #expect(machine.leave(2) == .stop(run: 1))
    #expect(machine.end(1, of: 1, .failed(isFinal: true), now: .zero) == .ignore)
    #expect(machine.join(3, .rejected(ticket), now: .zero) == .start(run: 2))
    #expect(machine.end(1, of: 1, .renewed, now: .zero) == .deliver(to: [3], stop: 2))
    #expect(machine.end(2, of: 1, .renewed, now: .zero) == .ignore)
  }

  @Test func `a run whose request was sent lingers when the last waiter leaves, and is joined by who comes`()
  {
    var machine = machine()
    let ticket = machine.ticket
    _ = machine.join(1, .rejected(ticket), now: .zero)
    machine.sends(1)
    #expect(machine.leave(1) == .linger(run: 1))
    #expect(machine.isRunning)
    #expect(machine.join(2, .rejected(ticket), now: .zero) == .wait)
    #expect(machine.abandon(1) == false, "somebody waits again")
    #expect(machine.leave(2) == .linger(run: 1))
    #expect(machine.abandon(1) == true)
    #expect(!machine.isRunning)
    #expect(machine.abandon(1) == false)
    // What it brings after all is still taken.
    #expect(machine.end(1, of: 1, .renewed, now: .zero) == .deliver(to: [], stop: nil))
    #expect(machine.join(3, .rejected(ticket), now: .zero) == .useCurrent)
  }

  @Test func `a logout ends the run, and nothing of it is taken later`() {
    var machine = machine()
    let ticket = machine.ticket
    _ = machine.join(1, .rejected(ticket), now: .zero)
    #expect(machine.replace(hasSession: false) == Machine.Replacement(waiters: [1], stop: 1))
    #expect(machine.end(1, of: 1, .renewed, now: .zero) == .ignore)
    #expect(machine.join(2, .rejected(ticket), now: .zero) == .refuse(.noSession))
    #expect(machine.join(2, .missing, now: .zero) == .start(run: 2))
  }

  @Test func `no more runs than the window allows`() {
    var machine = machine(window: Machine.Window(count: 2, interval: .seconds(60)))
    for run in 1...2 {
      let generation = machine.generation
      #expect(machine.join(run, .rejected(machine.ticket), now: .seconds(run)) == .start(run: UInt64(run)))
      _ = machine.end(UInt64(run), of: generation, .renewed, now: .seconds(run))
    }
    #expect(machine.join(3, .rejected(machine.ticket), now: .seconds(60)) == .refuse(.tooMany))
    #expect(machine.join(3, .rejected(machine.ticket), now: .seconds(61)) == .start(run: 3))
  }

  /// What must hold whatever happens in whatever order.
  private struct Model {
    var machine: Machine
    var waiting: Set<Int> = []
    var running: [UInt64: UInt64] = [:]
    var current: UInt64?
    var lingers = false
    var now = Duration.zero
    var lastGeneration: UInt64 = 0
    var nextWaiter = 0
    var tickets: [Machine.Ticket] = []
    var startsByGeneration: [UInt64: Int] = [:]

    mutating func told(_ waiters: Set<Int>) {
      #expect(waiters.isSubset(of: waiting), "only those who wait are told, and once")
      waiting.subtract(waiters)
    }

    mutating func check() {
      if current == nil { lingers = false }
      #expect(machine.waiters == waiting, "all who wait belong to the run")
      #expect(machine.isRunning || waiting.isEmpty, "waiters have a run")
      #expect(machine.isRunning == !waiting.isEmpty || lingers, "a run has waiters, or its request was sent")
      #expect(machine.runNumber == current)
      #expect(machine.generation >= lastGeneration)
      lastGeneration = machine.generation
    }

    mutating func join(_ reason: Machine.Reason) {
      nextWaiter += 1
      let before = machine.runNumber
      switch machine.join(nextWaiter, reason, now: now) {
      case .wait:
        #expect(before != nil)
        waiting.insert(nextWaiter)
      case .start(let run):
        #expect(before == nil, "one run at a time")
        waiting.insert(nextWaiter)
        running[run] = machine.generation
        current = run
        lingers = false
      case .useCurrent:
        if case .rejected(let ticket) = reason { #expect(ticket.generation != machine.generation) }
      case .refuse(.noSession): #expect(!machine.hasSession)
      case .refuse: #expect(before == nil, "nobody is refused while a run is under way")
      }
    }

    mutating func end(_ run: UInt64, _ outcome: Machine.Outcome) {
      guard let generation = running.removeValue(forKey: run) else { return }
      let before = machine.generation
      switch machine.end(run, of: generation, outcome, now: now) {
      case .deliver(let waiters, let stop):
        told(waiters)
        if outcome == .renewed { #expect(machine.generation == before + 1 && generation == before) }
        if let stop { #expect(stop == current && stop != run) }
        current = nil
      case .ignore:
        #expect(machine.generation == before)
        if outcome == .renewed { #expect(generation != before, "a token that can be used is used") }
      }
    }
  }

  @Test func `ten thousand random orders of refusals, cancellations and outcomes keep the rules`() {
    for seed in 0..<10_000 {
      var random = SeededGenerator(seed: UInt64(seed))
      let window = seed % 3 == 0 ? Machine.Window(count: 3, interval: .seconds(10)) : nil
      var model = Model(machine: machine(window: window))
      for _ in 0..<40 {
        model.now += .milliseconds(random.next(below: 2000))
        switch random.next(below: 14) {
        case 0, 1: model.tickets.append(model.machine.ticket)
        case 2, 3, 4:
          let ticket = model.tickets.randomElement(using: &random) ?? model.machine.ticket
          model.join(random.next(below: 4) == 0 ? .expiring(ticket) : .rejected(ticket))
        case 5: model.join(random.next(below: 2) == 0 ? .asked : .missing)
        case 6, 7:
          guard let waiter = model.waiting.sorted().randomElement(using: &random) else { break }
          model.waiting.remove(waiter)
          switch model.machine.leave(waiter) {
          case .goOn: break
          case .stop(let run):
            #expect(run == model.current && !model.lingers)
            model.current = nil
          case .linger(let run): #expect(run == model.current && model.lingers)
          }
        case 8, 9:
          guard let run = model.running.keys.sorted().randomElement(using: &random) else { break }
          model.end(run, .renewed)
        case 10:
          guard let run = model.running.keys.sorted().randomElement(using: &random) else { break }
          model.end(run, .failed(isFinal: random.next(below: 2) == 0))
        case 11:
          guard let run = model.current else { break }
          model.machine.sends(run)
          model.lingers = true
        case 12:
          guard let run = model.running.keys.sorted().randomElement(using: &random) else { break }
          let isLeft = run == model.current && model.waiting.isEmpty
          #expect(model.machine.abandon(run) == isLeft)
          if isLeft { model.current = nil }
        default:
          let replacement = model.machine.replace(hasSession: random.next(below: 3) > 0)
          #expect(replacement.stop == model.current)
          model.told(replacement.waiters)
          model.current = nil
        }
        model.check()
      }
      // Whatever is still under way ends, and then nobody waits.
      for run in model.running.keys.sorted() { model.end(run, .failed(isFinal: false)) }
      #expect(model.machine.waiters.isEmpty && model.waiting.isEmpty)
    }
  }
}
