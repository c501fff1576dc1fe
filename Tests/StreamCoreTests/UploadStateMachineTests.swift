@testable import StreamCore
import TestSupport
import Testing

/// Every event in every state, whole actions compared.
struct UploadStateMachineTests {
  enum Event: Sendable, Equatable {
    case feed(Int, epoch: Int)
    case complete(epoch: Int)
    case read(Int)
    case copied(Int)
    case restart, close
  }

  enum Outcome: Sendable, Equatable {
    case feed(UploadStateMachine.FeedAction)
    case complete(UploadStateMachine.CompleteAction)
    case read(UploadStateMachine.ReadAction)
    case feeder(UploadStateMachine.CopiedAction)
  }

  static func apply(_ event: Event, to machine: inout UploadStateMachine) -> Outcome {
    switch event {
    case .feed(let count, let epoch): .feed(machine.feed(count, epoch: epoch))
    case .complete(let epoch): .complete(machine.complete(epoch: epoch))
    case .read(let capacity): .read(machine.read(capacity: capacity))
    case .copied(let count): .feeder(machine.copied(count))
    case .restart: .feeder(machine.restart())
    case .close: .feeder(machine.close())
    }
  }

  struct Situation: Sendable, CustomTestStringConvertible {
    let name: String
    var length: Int64?
    let setUp: [Event]
    let state: UploadStateMachine.State
    let outcomes: [(Event, Outcome)]
    var testDescription: String { name }
  }

  static let situations: [Situation] = [
    Situation(
      name: "open, nothing there", setUp: [], state: .open,
      outcomes: [
        (.feed(0, epoch: 0), .feed(.keep)), (.feed(99, epoch: 0), .feed(.keep)),
        (.feed(100, epoch: 0), .feed(.keepAndWait)), (.feed(1, epoch: -1), .feed(.restart)),
        (.complete(epoch: 0), .complete(.none)), (.complete(epoch: -1), .complete(.restart)),
        (.read(10), .read(.pause)), (.restart, .feeder(.none)), (.close, .feeder(.none)),
      ]),
    Situation(
      name: "open, the sender starves", setUp: [.read(10)], state: .open,
      outcomes: [
        (.feed(0, epoch: 0), .feed(.keep)), (.feed(1, epoch: 0), .feed(.keepAndResumeSender)),
        (.feed(100, epoch: 0), .feed(.keepResumeSenderAndWait)),
        (.complete(epoch: 0), .complete(.resumeSender)), (.read(10), .read(.pause)),
        (.restart, .feeder(.none)), (.close, .feeder(.none)),
      ]),
    Situation(
      name: "open, bytes there", setUp: [.feed(60, epoch: 0)], state: .open,
      outcomes: [
        (.read(10), .read(.copy(10))), (.read(1000), .read(.copy(60))), (.copied(60), .feeder(.none)),
        (.feed(40, epoch: 0), .feed(.keepAndWait)), (.complete(epoch: 0), .complete(.none)),
        (.restart, .feeder(.none)), (.close, .feeder(.none)),
      ]),
    Situation(
      name: "open, the feeder waits for room", setUp: [.feed(120, epoch: 0)], state: .open,
      outcomes: [
        (.copied(79), .feeder(.none)), (.copied(80), .feeder(.resumeFeeder)),
        (.restart, .feeder(.resumeFeeder)), (.close, .feeder(.resumeFeeder)),
        (.read(1000), .read(.copy(120))),
      ]),
    Situation(
      name: "complete, bytes left", setUp: [.feed(10, epoch: 0), .complete(epoch: 0)], state: .complete,
      outcomes: [
        (.read(4), .read(.copy(4))), (.copied(10), .feeder(.none)),
        (.restart, .feeder(.resumeFeeder)), (.close, .feeder(.resumeFeeder)),
      ]),
    Situation(
      name: "complete, all sent", setUp: [.feed(10, epoch: 0), .complete(epoch: 0), .copied(10)],
      state: .complete,
      outcomes: [
        (.read(4), .read(.end)), (.restart, .feeder(.resumeFeeder)), (.close, .feeder(.resumeFeeder)),
      ]),
    Situation(
      name: "restarted", setUp: [.feed(10, epoch: 0), .copied(4), .restart], state: .open,
      outcomes: [
        (.feed(1, epoch: 0), .feed(.restart)), (.complete(epoch: 0), .complete(.restart)),
        (.feed(1, epoch: 1), .feed(.keep)), (.complete(epoch: 1), .complete(.none)),
        (.read(4), .read(.pause)),
      ]),
    Situation(
      name: "closed", setUp: [.feed(120, epoch: 0), .close], state: .closed,
      outcomes: [
        (.feed(1, epoch: 0), .feed(.stop)), (.feed(1, epoch: 7), .feed(.stop)),
        (.complete(epoch: 0), .complete(.none)), (.complete(epoch: 7), .complete(.none)),
        (.read(4), .read(.abort)), (.restart, .feeder(.none)), (.close, .feeder(.none)),
      ]),
    Situation(
      name: "an announced length, partly fed", length: 50, setUp: [.feed(40, epoch: 0)], state: .open,
      outcomes: [
        (.feed(10, epoch: 0), .feed(.keep)), (.feed(11, epoch: 0), .feed(.tooLong)),
        (.complete(epoch: 0), .complete(.tooShort(40))),
      ]),
    Situation(
      name: "an announced length, all fed", length: 50, setUp: [.feed(50, epoch: 0)], state: .open,
      outcomes: [(.feed(1, epoch: 0), .feed(.tooLong)), (.complete(epoch: 0), .complete(.none))]),
    Situation(
      name: "an announced length counts anew after a restart", length: 50,
      setUp: [.feed(50, epoch: 0), .restart], state: .open,
      outcomes: [(.feed(50, epoch: 1), .feed(.keep)), (.complete(epoch: 1), .complete(.tooShort(0)))]),
  ]

  @Test(arguments: situations) func `answers every event in`(_ situation: Situation) {
    var reached = UploadStateMachine(watermark: Watermark(low: 40, high: 100), length: situation.length)
    for event in situation.setUp { _ = Self.apply(event, to: &reached) }
    #expect(reached.state == situation.state)
    for (event, expected) in situation.outcomes {
      var machine = reached
      #expect(Self.apply(event, to: &machine) == expected, "\(event)")
    }
  }

  @Test func `a restart forgets what was sent`() {
    var machine = UploadStateMachine(watermark: .standard, length: nil)
    _ = machine.feed(10, epoch: 0)
    _ = machine.copied(10)
    #expect(machine.sent == 10)
    _ = machine.restart()
    #expect(machine.sent == 0 && machine.buffered == 0 && machine.epoch == 1)
  }

  /// A feeder and a sender that keep to the rules, in random order.
  @Test(arguments: [11, 12, 13]) func `keeps its promises over random events`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var model = SendingModel(&random)
    for step in 0..<60_000 {
      if let fault = model.step(&random) {
        Issue.record("step \(step): \(fault)")
        return
      }
    }
    #expect(model.restarts > 20 && model.waits > 100 && model.starved > 100)
  }
}

private struct SendingModel {
  private var machine: UploadStateMachine
  private let mark: Watermark
  private var held = 0
  private var sent = 0
  private var epoch = 0
  /// The epoch in which the feeder works; behind `epoch` after a restart.
  private var feederEpoch = 0
  private var feederWaits = false
  private var isComplete = false
  private var isClosed = false
  private var isStarved = false
  var restarts = 0
  var waits = 0
  var starved = 0

  init(_ random: inout SeededGenerator) {
    let high = 1 + random.next(below: 200)
    mark = Watermark(low: random.next(below: high), high: high)
    machine = UploadStateMachine(watermark: mark, length: nil)
  }

  mutating func step(_ random: inout SeededGenerator) -> String? {
    switch random.next(below: 1000) {
    case 0..<450: return feed(1 + random.next(below: 60))
    case 450..<960: return read(1 + random.next(below: 60))
    case 960..<970: return complete()
    case 970..<985: return restart()
    case 985: return close(&random)
    default: return nil
    }
  }

  private mutating func feed(_ count: Int) -> String? {
    if feederWaits || (isComplete && feederEpoch == epoch) { return nil }
    let action = machine.feed(count, epoch: feederEpoch)
    if isClosed { return action == .stop ? nil : "fed after the close" }
    if feederEpoch != epoch {
      feederEpoch = epoch
      return action == .restart ? nil : "an old epoch was fed"
    }
    held += count
    let isFull = held >= mark.high
    let expected: UploadStateMachine.FeedAction =
      switch (isStarved, isFull) {
      case (true, true): .keepResumeSenderAndWait
      case (true, false): .keepAndResumeSender
      case (false, true): .keepAndWait
      case (false, false): .keep
      }
    isStarved = false
    if isFull {
      feederWaits = true
      waits += 1
      if held > mark.high + count { return "more than high and one chunk" }
    }
    return action == expected ? nil : "feed gave \(action) for \(expected)"
  }

  private mutating func read(_ capacity: Int) -> String? {
    let action = machine.read(capacity: capacity)
    if isClosed { return action == .abort ? nil : "read after the close" }
    guard held > 0 else {
      if isComplete { return action == .end ? nil : "the end gave \(action)" }
      isStarved = true
      starved += 1
      return action == .pause ? nil : "nothing there gave \(action)"
    }
    let count = min(held, capacity)
    guard action == .copy(count) else { return "read gave \(action) for \(count)" }
    held -= count
    sent += count
    let wakes = feederWaits && !isComplete && held <= mark.low
    if wakes { feederWaits = false }
    guard machine.copied(count) == (wakes ? .resumeFeeder : .none) else { return "the feeder's wake-up" }
    return machine.sent == Int64(sent) && machine.buffered == held ? nil : "wrong counts"
  }

  private mutating func complete() -> String? {
    if feederWaits || isComplete { return nil }
    let action = machine.complete(epoch: feederEpoch)
    if isClosed { return action == .none ? nil : "completed after the close" }
    if feederEpoch != epoch {
      feederEpoch = epoch
      return action == .restart ? nil : "an old epoch was completed"
    }
    isComplete = true
    feederWaits = true  // for a restart or the end
    defer { isStarved = false }
    return action == (isStarved ? .resumeSender : .none) ? nil : "complete gave \(action)"
  }

  private mutating func restart() -> String? {
    let action = machine.restart()
    if isClosed { return action == .none ? nil : "restarted after the close" }
    restarts += 1
    epoch += 1
    held = 0
    sent = 0
    isStarved = false
    isComplete = false
    defer { feederWaits = false }
    return action == (feederWaits ? .resumeFeeder : .none) ? nil : "restart gave \(action)"
  }

  private mutating func close(_ random: inout SeededGenerator) -> String? {
    if isClosed {
      let counts = (restarts, waits, starved)
      self = SendingModel(&random)
      (restarts, waits, starved) = counts
      return nil
    }
    let action = machine.close()
    isClosed = true
    held = 0
    defer { feederWaits = false }
    return action == (feederWaits ? .resumeFeeder : .none) ? nil : "close gave \(action)"
  }
}
