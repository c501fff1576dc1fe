/// The life of one loop: what may happen next, with no effects of its own.
///
/// `idle → running → closing → tearingDown → stopped`. A loop that never ran goes from `idle` to `stopped`.
struct LoopLifecycleStateMachine: Equatable {
  enum State: Equatable, CaseIterable {
    /// No thread yet; what is put through the door waits for it.
    case idle
    case running
    /// Asked to end; open work goes on, and messages about it are still taken.
    case closing
    /// The driver is being torn down: messages are refused, jobs still run on the loop thread.
    case tearingDown
    /// The thread runs nothing any more: jobs need another place.
    case stopped
  }

  enum StartAction: Equatable { case createThread, refuse }
  enum CloseAction: Equatable { case stopAtOnce, wakeLoop, none }
  enum PauseAction: Equatable { case keepRunning, tearDown }
  enum FinishAction: Equatable { case resumeWaiters, none }
  enum MessageAction: Equatable { case accept, refuse }
  enum JobAction: Equatable { case leaveToLoop, runElsewhere }
  enum WaiterAction: Equatable { case keep, resumeAtOnce }

  private(set) var state = State.idle

  mutating func start() -> StartAction {
    guard state == .idle else { return .refuse }
    state = .running
    return .createThread
  }

  /// `closeWhenIdle` was called; it never waits.
  mutating func close() -> CloseAction {
    switch state {
    case .idle:
      state = .stopped
      return .stopAtOnce
    case .running:
      state = .closing
      return .wakeLoop
    case .closing, .tearingDown, .stopped:
      return .none
    }
  }

  /// The loop thread is about to wait, and this is what it saw.
  mutating func beforeWait(driverIsIdle: Bool, messagesWait: Bool) -> PauseAction {
    guard state == .closing, driverIsIdle, !messagesWait else { return .keepRunning }
    state = .tearingDown
    return .tearDown
  }

  /// The thread could not be created, or has done its last work.
  mutating func finish() -> FinishAction {
    guard state != .stopped else { return .none }
    state = .stopped
    return .resumeWaiters
  }

  func message() -> MessageAction {
    switch state {
    case .idle, .running, .closing: .accept
    case .tearingDown, .stopped: .refuse
    }
  }

  func job() -> JobAction { state == .stopped ? .runElsewhere : .leaveToLoop }

  func waiter() -> WaiterAction { state == .stopped ? .resumeAtOnce : .keep }
}
