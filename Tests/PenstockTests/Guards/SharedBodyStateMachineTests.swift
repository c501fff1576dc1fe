import TestSupport
import Testing

@testable import Penstock

@Suite struct SharedBodyStateMachineTests {
  @Test func `more is wanted when somebody waits and nobody is too far behind`() {
    var machine = SharedBodyStateMachine(limit: 10)
    machine.joined(1)
    machine.joined(2)
    #expect(!machine.wantsMore)
    machine.waits(1)
    #expect(machine.wantsMore)
    machine.received(10)
    machine.read(10, by: 1)
    machine.waits(1)
    #expect(!machine.wantsMore)
    machine.read(1, by: 2)
    #expect(machine.wantsMore)
    machine.ended()
    #expect(!machine.wantsMore)
  }

  @Test func `little is kept for those who come late, much isn't`() {
    var machine = SharedBodyStateMachine(limit: 10)
    machine.joined(1)
    machine.received(10)
    machine.read(10, by: 1)
    #expect(machine.isJoinable && !machine.mayDrop(10))
    machine.received(1)
    #expect(!machine.isJoinable && machine.mayDrop(10) && !machine.mayDrop(11))
  }

  @Test func `nobody joins what all have left, unless it is complete`() {
    var machine = SharedBodyStateMachine(limit: 10)
    #expect(machine.isJoinable && !machine.isDeserted)
    machine.joined(1)
    machine.left(1)
    #expect(machine.isDeserted && !machine.isJoinable)
    var other = SharedBodyStateMachine(limit: 10)
    other.joined(1)
    other.ended()
    other.left(1)
    #expect(other.isJoinable)
  }

  @Test func `random readers lose nothing and hold little`() {
    var generator = SeededGenerator(seed: 21)
    for _ in 0..<300 {
      let limit = generator.next(below: 50) + 1
      var machine = SharedBodyStateMachine(limit: limit)
      var positions: [UInt64: Int] = [:]
      var kept: [Int] = []
      for step in 1...200 as ClosedRange<UInt64> {
        switch generator.next(below: 6) {
        case 0:
          guard machine.isJoinable, positions.count < 4 else { continue }
          machine.joined(step)
          positions[step] = 0
        case 1, 2:
          guard machine.wantsMore else { continue }
          let count = generator.next(below: 9) + 1
          machine.received(count)
          kept.append(count)
        case 3, 4:
          guard let (id, position) = positions.min(by: { $0.key < $1.key }) else { continue }
          if position < machine.received {
            let count = min(machine.received - position, generator.next(below: 9) + 1)
            machine.read(count, by: id)
            positions[id] = position + count
          } else {
            machine.waits(id)
          }
        default:
          guard positions.count > 1, let id = positions.keys.max() else { continue }
          machine.left(id)
          positions[id] = nil
        }
        while let first = kept.first, machine.mayDrop(first) {
          machine.dropped(first)
          kept.removeFirst()
        }
        // Nothing is dropped that somebody hasn't read.
        #expect(machine.droppedBytes <= positions.values.min() ?? machine.received)
        // What waits is the limit at most, and the last piece.
        if let slowest = positions.values.min() { #expect(machine.received - slowest < limit + 9) }
      }
    }
  }
}
