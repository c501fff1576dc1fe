@testable import StreamCore
import TestSupport
import Testing

/// Every event in every state, whole actions compared.
struct ResponseBodyStateMachineTests {
  enum Event: Sendable, Equatable {
    case received(Int, overBudget: Bool)
    case item, ended, flush, tookEnd, waits, abandon
    case take(isEmpty: Bool)
    case credit(Int)
  }

  enum Outcome: Sendable, Equatable {
    case receive(ResponseBodyStateMachine.ReceiveAction)
    case item(ResponseBodyStateMachine.ItemAction)
    case flush(ResponseBodyStateMachine.FlushAction)
    case take(ResponseBodyStateMachine.TakeAction)
    case credit(ResponseBodyStateMachine.CreditAction)
    case wait(ResponseBodyStateMachine.WaitAction)
    case abandon(ResponseBodyStateMachine.AbandonAction)
    case silent
  }

  static func apply(_ event: Event, to machine: inout ResponseBodyStateMachine) -> Outcome {
    switch event {
    case .received(let count, let over): return .receive(machine.received(count, overBudget: over))
    case .item: return .item(machine.receivedItem())
    case .ended: return .item(machine.ended())
    case .flush: return .flush(machine.flush())
    case .take(let isEmpty): return .take(machine.take(isEmpty: isEmpty))
    case .credit(let count): return .credit(machine.credit(count))
    case .waits: return .wait(machine.waits())
    case .abandon: return .abandon(machine.abandon())
    case .tookEnd:
      machine.tookEnd()
      return .silent
    }
  }

  /// How a situation is reached, and what each event does in it.
  struct Situation: Sendable, CustomTestStringConvertible {
    let name: String
    let setUp: [Event]
    let state: ResponseBodyStateMachine.State
    let outcomes: [(Event, Outcome)]
    var testDescription: String { name }
  }

  private static let small = Event.received(10, overBudget: false)
  private static let large = Event.received(100, overBudget: false)
  private static let mild = Event.received(40, overBudget: true)

  static let situations: [Situation] = [
    Situation(
      name: "open, nothing there", setUp: [], state: .open,
      outcomes: [
        (small, .receive(.keep)), (large, .receive(.keepAndHold)), (mild, .receive(.keepAndHold)),
        (.item, .item(.keep)), (.ended, .item(.keep)), (.flush, .flush(.none)),
        (.take(isEmpty: true), .take(.wait)), (.take(isEmpty: false), .take(.take)),
        (.credit(1), .credit(.none)), (.waits, .wait(.sleep)), (.abandon, .abandon(.endProducer)),
        (.tookEnd, .silent),
      ]),
    Situation(
      name: "open with news", setUp: [small], state: .open,
      outcomes: [
        (small, .receive(.keep)), (.received(90, overBudget: false), .receive(.keepAndHold)),
        (.received(30, overBudget: true), .receive(.keepAndHold)), (.item, .item(.keep)),
        (.flush, .flush(.none)), (.take(isEmpty: false), .take(.take)), (.credit(10), .credit(.none)),
        (.waits, .wait(.lookAgain)), (.abandon, .abandon(.endProducer)),
      ]),
    Situation(
      name: "open, the reader sleeps", setUp: [.waits], state: .open,
      outcomes: [
        (.flush, .flush(.none)), (small, .receive(.keep)), (.ended, .item(.keep)), (.item, .item(.keep)),
        (.abandon, .abandon(.endProducerAndResumeReader)), (.waits, .wait(.sleep)),
      ]),
    Situation(
      name: "open, the reader sleeps and there is news", setUp: [.waits, small], state: .open,
      outcomes: [
        (.flush, .flush(.resumeReader)), (.abandon, .abandon(.endProducerAndResumeReader)),
      ]),
    Situation(
      name: "open and held", setUp: [large], state: .open,
      outcomes: [
        (small, .receive(.keepAndHold)), (.credit(59), .credit(.none)),
        (.credit(60), .credit(.resumeProducer)),
        (.credit(1000), .credit(.resumeProducer)), (.ended, .item(.keep)),
        (.abandon, .abandon(.endProducer)),
      ]),
    Situation(
      name: "resumed after a hold", setUp: [large, .credit(60)], state: .open,
      outcomes: [(.credit(40), .credit(.none)), (small, .receive(.keep))]),
    Situation(
      name: "ended, items left", setUp: [small, .ended], state: .ended,
      outcomes: [
        (small, .receive(.ignore)), (.item, .item(.ignore)), (.ended, .item(.ignore)),
        (.flush, .flush(.none)), (.take(isEmpty: false), .take(.take)),
        (.take(isEmpty: true), .take(.finished)), (.credit(10), .credit(.none)),
        (.waits, .wait(.lookAgain)), (.abandon, .abandon(.none)), (.tookEnd, .silent),
      ]),
    Situation(
      name: "ended while held", setUp: [large, .ended], state: .ended,
      outcomes: [(.credit(100), .credit(.none)), (.abandon, .abandon(.none))]),
    Situation(
      name: "ended while the reader sleeps", setUp: [.waits, .ended], state: .ended,
      outcomes: [(.flush, .flush(.resumeReader)), (.abandon, .abandon(.none))]),
    Situation(
      name: "abandoned after the end, the reader's wake-up still due", setUp: [.waits, .ended, .abandon],
      state: .abandoned, outcomes: [(.flush, .flush(.resumeReader))]),
    Situation(
      name: "abandoned", setUp: [large, .abandon], state: .abandoned,
      outcomes: [
        (small, .receive(.ignore)), (mild, .receive(.ignore)), (.item, .item(.ignore)),
        (.ended, .item(.ignore)), (.flush, .flush(.none)), (.take(isEmpty: true), .take(.cancelled)),
        (.take(isEmpty: false), .take(.cancelled)), (.credit(100), .credit(.none)),
        (.waits, .wait(.lookAgain)), (.abandon, .abandon(.none)), (.tookEnd, .silent),
      ]),
    Situation(
      name: "finished", setUp: [.ended, .take(isEmpty: false), .tookEnd], state: .finished,
      outcomes: [
        (small, .receive(.ignore)), (.item, .item(.ignore)), (.ended, .item(.ignore)),
        (.flush, .flush(.none)), (.take(isEmpty: true), .take(.finished)),
        (.take(isEmpty: false), .take(.finished)), (.credit(1), .credit(.none)),
        (.waits, .wait(.lookAgain)), (.abandon, .abandon(.none)), (.tookEnd, .silent),
      ]),
  ]

  @Test(arguments: situations) func `answers every event in`(_ situation: Situation) {
    var reached = ResponseBodyStateMachine(watermark: Watermark(low: 40, high: 100))
    for event in situation.setUp { _ = Self.apply(event, to: &reached) }
    #expect(reached.state == situation.state)
    for (event, expected) in situation.outcomes {
      var machine = reached
      #expect(Self.apply(event, to: &machine) == expected, "\(event)")
    }
  }

  @Test func `a low mark of zero still lets a held producer go on`() {
    var machine = ResponseBodyStateMachine(watermark: Watermark(low: 0, high: 1))
    #expect(machine.received(1, overBudget: true) == .keepAndHold)
    #expect(machine.credit(1) == .resumeProducer)
  }

  @Test func `a producer is held earlier than was asked for, never later`() {
    var machine = ResponseBodyStateMachine(watermark: Watermark(low: 2, high: 10))
    machine.holdsAt(20)
    #expect(machine.received(9, overBudget: false) == .keep)
    machine.holdsAt(5)
    #expect(machine.received(1, overBudget: false) == .keepAndHold)
    #expect(machine.credit(9) == .resumeProducer)
    #expect(machine.received(3, overBudget: false) == .keep)
    #expect(machine.received(1, overBudget: false) == .keepAndHold)
  }

  @Test func `an empty append over the budget does not hold what nobody could let go`() {
    var machine = ResponseBodyStateMachine(watermark: Watermark(low: 0, high: 1))
    #expect(machine.received(0, overBudget: true) == .keep)
    #expect(!machine.isHeld)
  }

  /// A producer and a reader that keep to the rules, in random order, against counts of our own.
  @Test(arguments: [1, 2, 3, 4]) func `keeps its promises over random events`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var model = ReceivingModel(&random)
    for step in 0..<60_000 {
      if let fault = model.step(&random) {
        Issue.record("step \(step): \(fault)")
        return
      }
    }
    #expect(model.holds > 100 && model.sleeps > 100 && model.ends > 10 && model.abandons > 10)
  }
}

/// What a receiving side may and may not do, told in counts.
private struct ReceivingModel {
  private var machine: ResponseBodyStateMachine
  private var mark: Watermark
  private var unread = 0  // bytes in items
  private var taken = 0  // bytes taken and not credited
  private var items = 0
  private var hasEnd = false
  private var isToldToHold = false
  private var asleep = false
  private var hasNews = false
  private var isGone = false
  private var isOver = false
  var holds = 0
  var sleeps = 0
  var ends = 0
  var abandons = 0

  init(_ random: inout SeededGenerator) {
    let high = 1 + random.next(below: 200)
    mark = Watermark(low: random.next(below: high), high: high)
    machine = ResponseBodyStateMachine(watermark: mark)
  }

  private mutating func startOver(_ random: inout SeededGenerator) {
    let counts = (holds, sleeps, ends, abandons)
    self = ReceivingModel(&random)
    (holds, sleeps, ends, abandons) = counts
  }

  mutating func step(_ random: inout SeededGenerator) -> String? {
    if isOver { startOver(&random) }
    switch random.next(below: 100) {
    case 0..<35: return receive(random.next(below: 64), overBudget: random.next(below: 4) == 0)
    case 35..<40: return item()
    case 40..<55: return flush()
    case 55..<80: return read(&random)
    case 80..<98: return credit(random.next(below: 80))
    case 98: return random.next(below: 4) == 0 ? end() : nil
    default: return random.next(below: 8) == 0 ? abandon() : nil
    }
  }

  private mutating func receive(_ count: Int, overBudget: Bool) -> String? {
    if isToldToHold && !isGone { return nil }  // a held producer keeps still
    let before = machine.buffered
    let action = machine.received(count, overBudget: overBudget)
    if isGone || hasEnd { return action == .ignore ? nil : "bytes were taken after the end" }
    unread += count
    items += 1
    hasNews = true
    if action == .keepAndHold {
      isToldToHold = true
      holds += 1
      if machine.buffered > mark.high + count { return "more than high and one append" }
      if before >= mark.high { return "the append before should have held" }
    } else if machine.buffered >= mark.high {
      return "not held at the high mark"
    }
    return machine.buffered == unread + taken ? nil : "wrong count"
  }

  private mutating func item() -> String? {
    let action = machine.receivedItem()
    if isGone || hasEnd { return action == .ignore ? nil : "an item was taken after the end" }
    items += 1
    hasNews = true
    return action == .keep ? nil : "an item was lost"
  }

  private mutating func end() -> String? {
    let action = machine.ended()
    if isGone || hasEnd { return action == .ignore ? nil : "a second end" }
    hasEnd = true
    items += 1
    hasNews = true
    ends += 1
    return action == .keep ? nil : "the end was lost"
  }

  private mutating func flush() -> String? {
    let expected: ResponseBodyStateMachine.FlushAction = asleep && hasNews ? .resumeReader : .none
    let action = machine.flush()
    if action == .resumeReader { asleep = false }
    return action == expected ? nil : "flush gave \(action) for \(expected)"
  }

  private mutating func read(_ random: inout SeededGenerator) -> String? {
    if asleep { return nil }
    let action = machine.take(isEmpty: items == 0)
    if isGone {
      isOver = true
      return action == .cancelled ? nil : "an abandoned stream gave \(action)"
    }
    if items > 0 {
      guard action == .take else { return "items were there, but \(action)" }
      items = 0
      taken += unread
      unread = 0
      hasNews = false
      if hasEnd {
        machine.tookEnd()
        isOver = true
        return machine.take(isEmpty: true) == .finished ? nil : "not finished"
      }
      return nil
    }
    guard action == .wait else { return "nothing was there, but \(action)" }
    hasNews = false
    // News may come between the look and the sleep.
    if random.next(below: 3) == 0, let fault = receive(1, overBudget: false) { return fault }
    let waits = machine.waits()
    if hasNews { return waits == .lookAgain ? nil : "slept over news" }
    asleep = waits == .sleep
    sleeps += 1
    return asleep ? nil : "did not sleep"
  }

  private mutating func credit(_ most: Int) -> String? {
    let count = min(most, taken)
    guard count > 0 else { return nil }
    taken -= count
    let action = machine.credit(count)
    let resumes = !isGone && !hasEnd && isToldToHold && unread + taken <= mark.low
    if resumes { isToldToHold = false }
    return action == (resumes ? .resumeProducer : .none) ? nil : "credit gave \(action)"
  }

  private mutating func abandon() -> String? {
    let action = machine.abandon()
    abandons += 1
    defer {
      isGone = true
      unread = 0
      taken = 0
    }
    if isGone { return action == .none ? nil : "left twice" }
    if hasEnd {
      // The end's own flush wakes a reader that still sleeps.
      if asleep {
        asleep = false
        return action == .none && machine.flush() == .resumeReader ? nil : "the reader sleeps on"
      }
      return action == .none ? nil : "ended a producer that is done"
    }
    let expected: ResponseBodyStateMachine.AbandonAction =
      asleep ? .endProducerAndResumeReader : .endProducer
    asleep = false
    return action == expected && machine.buffered == 0 ? nil : "abandon gave \(action)"
  }
}
