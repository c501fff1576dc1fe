import TestSupport
import Testing

@testable import PollLoop

@Suite struct LoopLifecycleStateMachineTests {
  typealias Machine = LoopLifecycleStateMachine

  /// A machine that was led into the state by events alone.
  static func machine(in state: Machine.State) -> Machine {
    var machine = Machine()
    if state == .idle { return machine }
    if state == .stopped {
      _ = machine.close()
      return machine
    }
    _ = machine.start()
    if state == .running { return machine }
    _ = machine.close()
    if state == .closing { return machine }
    _ = machine.beforeWait(driverIsIdle: true, messagesWait: false)
    return machine
  }

  @Test("a helper machine is in the state it was led into", arguments: Machine.State.allCases)
  func ledIntoState(_ state: Machine.State) {
    #expect(Self.machine(in: state).state == state)
  }

  @Test("only an idle loop starts", arguments: Machine.State.allCases)
  func start(_ state: Machine.State) {
    var machine = Self.machine(in: state)
    let startAction = machine.start()
    #expect(startAction == (state == .idle ? .createThread : .refuse))
    #expect(machine.state == (state == .idle ? .running : state))
  }

  @Test(
    "closing wakes a running loop, stops one that never ran, and is done once",
    arguments: [
      (Machine.State.idle, Machine.CloseAction.stopAtOnce, Machine.State.stopped),
      (.running, .wakeLoop, .closing),
      (.closing, .none, .closing),
      (.tearingDown, .none, .tearingDown),
      (.stopped, .none, .stopped),
    ])
  func close(_ state: Machine.State, _ action: Machine.CloseAction, _ next: Machine.State) {
    var machine = Self.machine(in: state)
    let closeAction = machine.close()
    #expect(closeAction == action)
    #expect(machine.state == next)
  }

  @Test(
    "a loop is torn down when it is closing, idle and without messages, and only then",
    arguments: Machine.State.allCases, [(true, true), (true, false), (false, true), (false, false)])
  func beforeWait(_ state: Machine.State, _ seen: (idle: Bool, messages: Bool)) {
    var machine = Self.machine(in: state)
    let ends = state == .closing && seen.idle && !seen.messages
    let action = machine.beforeWait(driverIsIdle: seen.idle, messagesWait: seen.messages)
    #expect(action == (ends ? .tearDown : .keepRunning))
    #expect(machine.state == (ends ? .tearingDown : state))
  }

  @Test("the end is told once", arguments: Machine.State.allCases)
  func finish(_ state: Machine.State) {
    var machine = Self.machine(in: state)
    let firstEnd = machine.finish()
    #expect(firstEnd == (state == .stopped ? .none : .resumeWaiters))
    #expect(machine.state == .stopped)
    let secondEnd = machine.finish()
    #expect(secondEnd == .none)
  }

  @Test(
    "messages are taken until the tear-down, jobs always have a place",
    arguments: [
      (Machine.State.idle, Machine.MessageAction.accept, Machine.JobAction.leaveToLoop),
      (.running, .accept, .leaveToLoop),
      (.closing, .accept, .leaveToLoop),
      (.tearingDown, .refuse, .leaveToLoop),
      (.stopped, .refuse, .runElsewhere),
    ])
  func entries(_ state: Machine.State, _ message: Machine.MessageAction, _ job: Machine.JobAction) {
    let machine = Self.machine(in: state)
    #expect(machine.message() == message)
    #expect(machine.job() == job)
    #expect(machine.waiter() == (state == .stopped ? .resumeAtOnce : .keep))
  }

  @Test("random events only ever lead forward, with one start, one tear-down and one end", arguments: 0..<50)
  func randomSequences(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let order = Machine.State.allCases
    var machine = Machine()
    var starts = 0
    var tearDowns = 0
    var ends = 0
    for _ in 0..<200 {
      let before = machine.state
      switch random.next(below: 4) {
      case 0: if machine.start() == .createThread { starts += 1 }
      case 1: if machine.close() == .stopAtOnce { ends += 1 }
      case 2:
        let action = machine.beforeWait(
          driverIsIdle: random.next(below: 2) == 0, messagesWait: random.next(below: 2) == 0)
        if action == .tearDown { tearDowns += 1 }
      default:
        // The thread ends when it was told to, or could not be created.
        guard before == .tearingDown || random.next(below: 20) == 0 else { continue }
        if machine.finish() == .resumeWaiters { ends += 1 }
      }
      let from = order.firstIndex(of: before) ?? 0
      let to = order.firstIndex(of: machine.state) ?? 0
      #expect(to >= from)
      #expect(starts <= 1 && tearDowns <= 1 && ends <= 1)
      #expect((ends == 1) == (machine.state == .stopped))
    }
  }
}
