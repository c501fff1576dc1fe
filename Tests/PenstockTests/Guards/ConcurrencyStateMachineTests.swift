import TestSupport
import Testing

@testable import Penstock

@Suite struct ConcurrencyStateMachineTests {
  @Test func `places go in order`() {
    var machine = ConcurrencyStateMachine(limit: 2, longestQueue: 2)
    let actions = (1...5 as ClosedRange<UInt64>).map { machine.enter($0) }
    #expect(actions == [.start, .start, .wait, .wait, .refuse])
    #expect(machine.leave() == 3)
    #expect(machine.leave() == 4)
    #expect(machine.leave() == nil)
    #expect(machine.leave() == nil)
    #expect(machine.isIdle)
  }

  @Test func `who withdraws isn't called`() {
    var machine = ConcurrencyStateMachine(limit: 1, longestQueue: 9)
    _ = machine.enter(1)
    _ = machine.enter(2)
    _ = machine.enter(3)
    let first = machine.withdraw(2)
    #expect(first)
    let again = machine.withdraw(2)
    let running = machine.withdraw(1)
    #expect(!again && !running)
    #expect(machine.leave() == 3)
  }

  @Test func `random comings and goings keep limit and order`() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<300 {
      let limit = generator.next(below: 4) + 1
      var machine = ConcurrencyStateMachine(limit: limit, longestQueue: 20)
      var running: Set<UInt64> = []
      var queue: [UInt64] = []
      for id in 1...200 as ClosedRange<UInt64> {
        switch generator.next(below: 5) {
        case 0, 1:
          switch machine.enter(id) {
          case .start: running.insert(id)
          case .wait: queue.append(id)
          case .refuse: #expect(queue.count == 20)
          }
        case 2, 3:
          guard let done = running.first else { continue }
          running.remove(done)
          let next = machine.leave()
          #expect(next == queue.first)
          if let next {
            queue.removeFirst()
            running.insert(next)
          }
        default:
          guard !queue.isEmpty else { continue }
          let isOut = machine.withdraw(queue.remove(at: generator.next(below: queue.count)))
          #expect(isOut)
        }
        #expect(machine.running == running.count && machine.waiting == queue.count)
        #expect(running.count <= limit && (queue.isEmpty || running.count == limit))
      }
    }
  }
}
