import TestSupport
import Testing

@testable import Penstock

@Suite struct CircuitStateMachineTests {
  private static let begin = MonotonicInstant.now

  private static func settings(_ edit: (inout CircuitBreaker.Settings) -> Void = { _ in })
    -> CircuitBreaker.Settings
  {
    var settings = CircuitBreaker.Settings()
    settings.window = 4
    settings.minimumCalls = 2
    settings.probes = 2
    settings.openTime = .seconds(5)
    settings.longestOpenTime = .seconds(15)
    edit(&settings)
    return settings.sound
  }

  /// Lets one through and ends it.
  private static func call(
    _ machine: inout CircuitStateMachine, _ result: CircuitStateMachine.Result, at second: Int
  ) -> CircuitStateMachine.Change? {
    let now = begin + .seconds(second)
    let (admission, change) = machine.admit(at: now)
    guard case .pass(let life) = admission else {
      Issue.record("refused at \(second) s")
      return nil
    }
    return machine.ended(result, life: life, at: now) ?? change
  }

  private static func opened() -> CircuitStateMachine {
    var machine = CircuitStateMachine(settings())
    #expect(call(&machine, .failure, at: 0) == nil)
    #expect(call(&machine, .failure, at: 0) == .init(from: .closed, to: .open))
    return machine
  }

  @Test func `it opens when the part of failures is reached`() {
    var machine = CircuitStateMachine(Self.settings { $0.minimumCalls = 4 })
    for result in [CircuitStateMachine.Result.failure, .success, .success] {
      #expect(Self.call(&machine, result, at: 0) == nil)
    }
    #expect(Self.call(&machine, .failure, at: 0) == .init(from: .closed, to: .open))
  }

  @Test func `old results leave the window`() {
    var machine = CircuitStateMachine(
      Self.settings {
        $0.minimumCalls = 4; $0.failureRatio = 0.75
      })
    for result in [CircuitStateMachine.Result.failure, .failure, .success, .success, .success, .failure] {
      #expect(Self.call(&machine, result, at: 0) == nil)
    }
    #expect(Self.call(&machine, .failure, at: 0) == nil)
    #expect(Self.call(&machine, .failure, at: 0) == .init(from: .closed, to: .open))
  }

  @Test func `while open it refuses and says for how long`() {
    var machine = Self.opened()
    let (admission, change) = machine.admit(at: Self.begin + .seconds(2))
    #expect(admission == .refuse(retryIn: .seconds(3)) && change == nil)
  }

  @Test func `half open lets a few through, and closes when they succeed`() {
    var machine = Self.opened()
    let later = Self.begin + .seconds(5)
    let (first, change) = machine.admit(at: later)
    #expect(change == .init(from: .open, to: .halfOpen))
    let (second, _) = machine.admit(at: later)
    let (third, _) = machine.admit(at: later)
    guard case .pass(let one) = first, case .pass(let two) = second, case .refuse = third else {
      Issue.record("not two of three went through")
      return
    }
    #expect(machine.ended(.success, life: one, at: later) == nil)
    #expect(machine.ended(.success, life: two, at: later) == .init(from: .halfOpen, to: .closed))
  }

  @Test func `a failed try opens it for longer, up to the longest`() {
    var machine = Self.opened()
    var second = 5
    for wait in [10, 15, 15] {
      #expect(Self.call(&machine, .failure, at: second) == .init(from: .halfOpen, to: .open))
      let (admission, _) = machine.admit(at: Self.begin + .seconds(second))
      #expect(admission == .refuse(retryIn: .seconds(wait)))
      second += wait
    }
    _ = Self.call(&machine, .success, at: second)
    #expect(Self.call(&machine, .success, at: second) == .init(from: .halfOpen, to: .closed))
  }

  @Test func `what is cancelled frees its place and counts for nothing`() {
    var machine = Self.opened()
    for _ in 0..<5 { _ = Self.call(&machine, .neither, at: 5) }
    #expect(machine.state == .halfOpen)
  }

  @Test func `results of an earlier life don't count`() {
    var machine = CircuitStateMachine(Self.settings())
    guard case .pass(let early) = machine.admit(at: Self.begin).0 else { return }
    _ = Self.call(&machine, .failure, at: 0)
    _ = Self.call(&machine, .failure, at: 0)
    #expect(machine.state == .open)
    _ = machine.admit(at: Self.begin + .seconds(5))
    #expect(machine.ended(.failure, life: early, at: Self.begin + .seconds(5)) == nil)
    #expect(machine.state == .halfOpen)
  }

  @Test func `random results keep the rules`() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<500 {
      var machine = CircuitStateMachine(Self.settings())
      var now = Duration.zero
      var under: [Int] = []
      var openedAt: Duration?
      for _ in 0..<100 {
        now += .milliseconds(generator.next(below: 2000))
        if generator.next(below: 2) == 0 {
          let (admission, change) = machine.admit(at: Self.begin + now)
          if change?.to == .halfOpen {
            #expect(now - (openedAt ?? now) >= .seconds(5))
            openedAt = nil
          }
          if case .pass(let life) = admission {
            #expect(openedAt == nil)
            under.append(life)
          }
        } else if !under.isEmpty {
          let life = under.remove(at: generator.next(below: under.count))
          let results: [CircuitStateMachine.Result] = [.success, .failure, .neither]
          let change = machine.ended(results[generator.next(below: 3)], life: life, at: Self.begin + now)
          if change?.to == .open { openedAt = now }
          if change?.to == .closed { #expect(change?.from == .halfOpen) }
        }
      }
    }
  }
}
