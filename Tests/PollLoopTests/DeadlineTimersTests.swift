import TestSupport
import Testing

@testable import PollLoop

@Suite struct DeadlineTimersTests {
  final class Label: LoopMessageReceiver {
    let id: Int
    init(_ id: Int) { self.id = id }
    func receive(_ code: UInt8) {}
  }

  static func id(_ expired: DeadlineTimers.Expired?) -> Int? { (expired?.receiver as? Label)?.id }

  @Test func timersComeOutInTheOrderOfTheirDeadlines() {
    var timers = DeadlineTimers()
    for deadline in [5, 1, 4, 2, 3] {
      _ = timers.schedule(at: UInt64(deadline), receiver: Label(deadline), code: UInt8(deadline))
    }
    #expect(timers.earliest == 1)
    var order: [Int?] = []
    while let expired = timers.popExpired(now: 4) { order.append(Self.id(expired)) }
    #expect(order == [1, 2, 3, 4])
    #expect(timers.earliest == 5)
    #expect(timers.count == 1)
  }

  @Test func aStaleTokenTouchesNobodyElsesTimer() {
    var timers = DeadlineTimers()
    let old = timers.schedule(at: 1, receiver: Label(1), code: 7)
    let isCancelled = timers.cancel(old)
    #expect(isCancelled)
    let new = timers.schedule(at: 2, receiver: Label(2), code: 8)
    #expect(new.slot == old.slot)
    let isStaleCancelled = timers.cancel(old)
    #expect(!isStaleCancelled)
    let isStaleMoved = timers.reschedule(old, at: 0)
    #expect(!isStaleMoved)
    #expect(timers.earliest == 2)
    let expired = timers.popExpired(now: 2)
    #expect(Self.id(expired) == 2)
    #expect(expired?.code == 8)
    let isFiredCancelled = timers.cancel(new)
    #expect(!isFiredCancelled)
  }

  @Test func aTimerThatIsGoneHoldsItsReceiverNoLonger() {
    var timers = DeadlineTimers()
    weak var cancelled: Label?
    weak var fired: Label?
    do {
      let one = Label(1)
      let two = Label(2)
      cancelled = one
      fired = two
      let token = timers.schedule(at: 1, receiver: one, code: 0)
      _ = timers.schedule(at: 2, receiver: two, code: 0)
      timers.cancel(token)
      _ = timers.popExpired(now: 2)
    }
    #expect(cancelled == nil)
    #expect(fired == nil)
  }

  @Test("random operations agree with a sorted list", arguments: 0..<10)
  func randomOperationsAgreeWithAModel(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var timers = DeadlineTimers()
    var model: [Int: (token: TimerToken, deadline: UInt64)] = [:]
    var stale: [TimerToken] = []
    for step in 0..<400 {
      switch random.next(below: 6) {
      case 0, 1, 2:
        let deadline = UInt64(random.next(below: 200))
        let token = timers.schedule(at: deadline, receiver: Label(step), code: UInt8(step & 255))
        model[step] = (token, deadline)
      case 3:
        guard let id = model.keys.sorted().randomPick(&random), let entry = model[id] else { continue }
        let deadline = UInt64(random.next(below: 200))
        let isMoved = timers.reschedule(entry.token, at: deadline)
        #expect(isMoved)
        model[id] = (entry.token, deadline)
      case 4:
        guard let id = model.keys.sorted().randomPick(&random), let entry = model[id] else { continue }
        let isCancelled = timers.cancel(entry.token)
        #expect(isCancelled)
        model[id] = nil
        stale.append(entry.token)
      default:
        let now = UInt64(random.next(below: 200))
        let expired = timers.popExpired(now: now)
        let earliest = model.values.map(\.deadline).min()
        guard let earliest, earliest <= now else {
          #expect(expired == nil)
          continue
        }
        let id = Self.id(expired) ?? -1
        #expect(model[id]?.deadline == earliest)
        #expect(expired?.code == UInt8(id & 255))
        if let token = model[id]?.token { stale.append(token) }
        model[id] = nil
      }
      if let token = stale.randomPick(&random) {
        let isTaken = timers.cancel(token)
        #expect(!isTaken)
      }
      #expect(timers.count == model.count)
      #expect(timers.earliest == model.values.map(\.deadline).min())
    }
  }
}

extension Array {
  func randomPick(_ random: inout SeededGenerator) -> Element? {
    isEmpty ? nil : self[random.next(below: count)]
  }
}
