@testable import CurlTransport
import StreamCore
import TestSupport
import Testing

struct TransferStateMachineTests {
  typealias Machine = TransferStateMachine
  typealias Phase = TransferStateMachine.Phase

  static let all: [Phase] = [
    .queued, .resolving, .connecting, .sending, .awaitingHead, .receiving, .abandoned, .ended,
  ]
  static let over: [Phase] = [.abandoned, .ended]
  static let error = HTTPError(.malformedResponse, phase: .head, message: "bad")

  /// A machine that has come to a phase by the events that lead there.
  static func machine(in phase: Phase, allowedSends: Int = 2) -> Machine {
    var machine = Machine(allowedSends: allowedSends, hasUpload: true)
    if phase == .queued { return machine }
    _ = machine.start()
    switch phase {
    case .queued, .resolving: break
    case .abandoned: _ = machine.cancel(isLookingUp: true)
    case .ended: _ = machine.finished()
    default:
      _ = machine.socketOpens()
      if phase != .connecting { _ = machine.requestStarts() }
      if phase == .awaitingHead { machine.uploadEnded() }
      if phase == .receiving { _ = machine.headArrived() }
    }
    return machine
  }

  @Test(arguments: all) func `each phase is reached`(_ phase: Phase) {
    #expect(Self.machine(in: phase).phase == phase)
  }

  @Test(arguments: all) func `what libcurl holds of a body that fails is taken, held or not`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    let before = machine.takesRest()
    #expect(!before)
    machine.hold()
    _ = machine.bodyOffered(1)
    let isPaused = machine.isReceivePaused
    let takes = machine.takesRest()
    #expect(takes == (phase == .receiving))
    guard phase == .receiving else { return }
    #expect(isPaused && !machine.isReceivePaused)
    machine.hold()
    #expect(machine.bodyOffered(1) == .take)
    #expect(machine.finished() == .report)
    #expect(machine.bodyOffered(1) == .refuse)
  }

  @Test(arguments: all) func `it starts once`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    #expect(machine.start() == (phase == .queued ? .begin : .ignore))
    #expect(machine.phase == (phase == .queued ? .resolving : phase))
  }

  @Test(arguments: all) func `a socket is refused to those that are over`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    #expect(machine.socketOpens() == (Self.over.contains(phase) ? .refuse : .open))
    #expect(machine.phase == (phase == .resolving ? .connecting : phase))
  }

  @Test(arguments: all) func `the request is sent as often as it may be`(_ phase: Phase) {
    var machine = Self.machine(in: phase, allowedSends: 2)
    let sendsLeft = 2 - machine.sends
    if Self.over.contains(phase) {
      #expect(machine.requestStarts() == .refuse)
      return
    }
    for _ in 0..<sendsLeft {
      #expect(machine.requestStarts() == .send)
      #expect(machine.phase == .sending)
    }
    #expect(machine.requestStarts() == .refuseReplay)
    #expect(machine.sends == 2)
  }

  @Test(arguments: all) func `on an unfit connection nothing is sent, and it starts again`(_ phase: Phase) {
    var machine = Self.machine(in: phase, allowedSends: 2)
    let sends = machine.sends
    #expect(machine.startsAgain() == false)
    guard !Self.over.contains(phase) else {
      #expect(machine.requestStarts(isConnectionFit: false) == .refuse)
      #expect(machine.startsAgain() == false)
      return
    }
    #expect(machine.requestStarts(isConnectionFit: false) == .refuseConnection)
    #expect(machine.sends == sends)
    #expect(machine.startsAgain() == true)
    #expect(machine.phase == .queued)
    #expect(machine.startsAgain() == false)
    #expect(machine.start() == .begin)
    #expect(machine.requestStarts() == .send)
  }

  @Test func `what ends meanwhile doesn't start again`() {
    for isCancelled in [true, false] {
      var machine = Self.machine(in: .connecting)
      _ = machine.requestStarts(isConnectionFit: false)
      if isCancelled { _ = machine.cancel(isLookingUp: false) } else { machine.refuse(Self.error) }
      #expect(machine.startsAgain() == false)
    }
  }

  @Test func `without a body the head is awaited at once`() {
    var machine = Machine(allowedSends: 1, hasUpload: false)
    _ = machine.start()
    #expect(machine.requestStarts() == .send)
    #expect(machine.phase == .awaitingHead)
  }

  @Test(arguments: all) func `a head is delivered unless it is over`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    #expect(machine.headArrived() == (Self.over.contains(phase) ? .ignore : .deliver))
    #expect(machine.phase == (Self.over.contains(phase) ? phase : .receiving))
  }

  @Test(arguments: all) func `body bytes are taken, held, or refused`(_ phase: Phase) {
    let isOver = Self.over.contains(phase)
    var machine = Self.machine(in: phase)
    #expect(machine.bodyOffered() == (isOver ? .refuse : .take))
    machine.hold()
    #expect(machine.bodyOffered() == (isOver ? .refuse : .pause))
    #expect(machine.isReceivePaused == !isOver)
    #expect(machine.readerWantsMore() == (isOver ? .none : .unpause))
    #expect(!machine.isReceivePaused && !machine.isHeld)
    #expect(machine.readerWantsMore() == .none)
    #expect(machine.bodyOffered() == (isOver ? .refuse : .take))
  }

  @Test func `a hold that was never felt needs no unpausing`() {
    var machine = Self.machine(in: .receiving)
    machine.hold()
    #expect(machine.readerWantsMore() == .none)
    #expect(machine.bodyOffered() == .take)
  }

  @Test(arguments: all) func `a starved upload is unpaused once`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    #expect(machine.feederHasNews() == .none)
    machine.sendStarved()
    #expect(machine.feederHasNews() == (Self.over.contains(phase) ? .none : .unpause))
    if !Self.over.contains(phase) { #expect(machine.feederHasNews() == .none) }
  }

  @Test(arguments: all) func `the end of the upload matters while sending alone`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    machine.uploadEnded()
    #expect(machine.phase == (phase == .sending ? .awaitingHead : phase))
  }

  @Test(arguments: all) func `after a refusal nothing is taken, and the first reason counts`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    machine.refuse(Self.error)
    machine.refuse(HTTPError(.truncated, phase: .body, message: "later"))
    #expect(machine.refusal?.kind == .malformedResponse)
    #expect(machine.requestStarts() == .refuse)
    #expect(machine.headArrived() == .ignore)
    #expect(machine.bodyOffered() == .refuse)
  }

  @Test(arguments: all, [false, true]) func `cancelling in each phase`(_ phase: Phase, isLookingUp: Bool) {
    var machine = Self.machine(in: phase)
    let expected: Machine.CancelAction =
      switch phase {
      case .ended, .abandoned: .none
      case .queued: .endQueued
      case .resolving: isLookingUp ? .abandon : .remove
      case .connecting, .sending, .awaitingHead, .receiving: .remove
      }
    #expect(machine.cancel(isLookingUp: isLookingUp) == expected)
    #expect(machine.phase == (expected == .abandon || phase == .abandoned ? .abandoned : .ended))
    #expect(machine.cancel(isLookingUp: isLookingUp) == .none)
  }

  @Test(arguments: all) func `it finishes once`(_ phase: Phase) {
    var machine = Self.machine(in: phase)
    let expected: Machine.FinishAction =
      phase == .ended ? .none : phase == .abandoned ? .clearUp : .report
    #expect(machine.finished() == expected)
    #expect(machine.phase == .ended)
    #expect(machine.finished() == .none)
  }

  @Test func `an error names how far it was`() {
    let phases = Self.all.map { Self.machine(in: $0).errorPhase }
    #expect(phases == [.queue, .connect, .connect, .request, .head, .body, .connect, .body])
  }

  @Test(arguments: [21, 22, 23]) func `keeps its promises over random events`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var machine = Machine(allowedSends: 2, hasUpload: true)
    var isTold = false  // the reader was told the end
    var isPaused = false
    for step in 0..<60_000 {
      let wasOver = Self.over.contains(machine.phase)
      switch random.next(below: 40) {
      case 0: _ = machine.start()
      case 1, 2: if machine.socketOpens() == .open, wasOver { Issue.record("a socket after the end") }
      case 3, 4:
        let isFit = random.next(below: 4) > 0
        let action = machine.requestStarts(isConnectionFit: isFit)
        if action == .send, wasOver || machine.sends > 2 || !isFit { Issue.record("sent once more") }
        if action == .refuseConnection, isFit { Issue.record("refused at \(step)") }
        if action == .refuseConnection, machine.startsAgain() { isPaused = false }
      case 5, 6: if machine.headArrived() == .deliver, wasOver { Issue.record("a head after the end") }
      case 7..<15:
        let wasHeld = machine.isHeld
        switch machine.bodyOffered() {
        case .take: if wasOver || wasHeld { Issue.record("bytes taken at step \(step)") }
        case .pause: isPaused = true
        case .refuse: if !wasOver && machine.refusal == nil { Issue.record("bytes refused") }
        }
      case 15..<20: machine.hold()
      case 20..<25:
        let action = machine.readerWantsMore()
        if (action == .unpause) != (isPaused && !wasOver) { Issue.record("unpaused wrongly at \(step)") }
        if !wasOver { isPaused = false }
      case 25..<30: machine.sendStarved()
      case 30..<35: _ = machine.feederHasNews()
      case 35: machine.uploadEnded()
      case 36 where random.next(below: 10) == 0: machine.refuse(Self.error)
      case 37 where random.next(below: 10) == 0:
        if machine.cancel(isLookingUp: random.next(below: 2) == 0) != .none {
          if isTold { Issue.record("told twice at \(step)") }
          isTold = true
        }
      case 38 where random.next(below: 10) == 0:
        if machine.finished() == .report {
          if isTold { Issue.record("told twice at \(step)") }
          isTold = true
        }
      case 39 where machine.phase == .ended:
        if !isTold { Issue.record("nobody was told") }
        machine = Machine(allowedSends: 2, hasUpload: random.next(below: 2) == 0)
        isTold = false
        isPaused = false
      default: break
      }
    }
  }

  @Test func `what libcurl has in hand is still taken while held, then it is paused between two receives`() {
    var machine = TransferStateMachine(allowedSends: 1, hasUpload: false)
    _ = machine.start()
    _ = machine.socketOpens()
    _ = machine.requestStarts()
    _ = machine.headArrived()
    machine.hold(allowance: 100)
    // A second hold of the same receive gives no more room.
    #expect(machine.bodyOffered(60) == .take)
    machine.hold(allowance: 100)
    #expect(machine.bodyOffered(60) == .pause)
    #expect(machine.readerWantsMore() == .unpause)

    machine.hold(allowance: 100)
    #expect(machine.allTaken() == .pause)
    #expect(machine.allTaken() == .none)
    #expect(machine.readerWantsMore() == .unpause)
    #expect(machine.allTaken() == .none)
    #expect(machine.bodyOffered(60) == .take)
  }
}
