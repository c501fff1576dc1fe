/// The one door of a loop: messages and executor jobs in the order in which they were put.
///
/// One lock guards the entries, the life of the loop and whether the loop sleeps, so that "put it in and
/// wake the loop if it sleeps" and "sleep if nothing is in" can't miss each other.
struct CommandQueue: ~Copyable {
  enum Entry {
    case job(UnownedJob)
    case taskJob(UnownedJob, LoopTaskExecutor)
    case message(any LoopMessageReceiver, UInt8)
  }

  /// What whoever put something in has to do, outside of the lock.
  enum PutAction: Equatable { case none, wakeLoop, startLateThread, refuse }
  enum WaitDecision: Equatable { case block, poll, tearDown }
  enum CloseDecision {
    case none, wakeLoop, resume([CheckedContinuation<Void, Never>], startLateThread: Bool)
  }

  // Not private: with a private state in a lock, the 6.3 compiler crashes.
  struct State {
    var entries: [Entry] = []
    var hasMessages = false
    /// The loop is in a wait without end, or about to be, and nobody has woken it yet.
    var isSleeping = false
    var hasLateThread = false
    var lifecycle = LoopLifecycleStateMachine()
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// At most one writer is told to wake the loop between two sleeps.
    mutating func wake() -> Bool {
      guard isSleeping else { return false }
      isSleeping = false
      return true
    }

    mutating func claimLateThread() -> Bool {
      guard !entries.isEmpty, !hasLateThread else { return false }
      hasLateThread = true
      return true
    }

    mutating func finish() -> CloseDecision {
      guard lifecycle.finish() == .resumeWaiters else { return .none }
      return stopped()
    }

    mutating func stopped() -> CloseDecision {
      let resumed = waiters
      waiters = []
      return .resume(resumed, startLateThread: claimLateThread())
    }
  }

  private let state = LoopLock(State())

  /// A buffer that has grown beyond this is let go after use.
  private static let keptCapacity = 8192

  func put(_ job: UnownedJob) -> PutAction { putJob(.job(job)) }

  func put(_ job: UnownedJob, of executor: LoopTaskExecutor) -> PutAction {
    putJob(.taskJob(job, executor))
  }

  private func putJob(_ entry: Entry) -> PutAction {
    state.withLock { state in
      state.entries.append(entry)
      switch state.lifecycle.job() {
      case .leaveToLoop: return state.wake() ? .wakeLoop : .none
      case .runElsewhere: return state.claimLateThread() ? .startLateThread : .none
      }
    }
  }

  func put(_ receiver: any LoopMessageReceiver, _ code: UInt8) -> PutAction {
    state.withLock { state in
      guard state.lifecycle.message() == .accept else { return .refuse }
      state.entries.append(.message(receiver, code))
      state.hasMessages = true
      return state.wake() ? .wakeLoop : .none
    }
  }

  /// Swaps all entries into the (empty) buffer; false when there were none.
  func take(into buffer: inout [Entry]) -> Bool {
    state.withLock { state in
      guard !state.entries.isEmpty else { return false }
      swap(&state.entries, &buffer)
      state.hasMessages = false
      return true
    }
  }

  /// Empties a buffer and keeps its storage for the next swap.
  static func recycle(_ buffer: inout [Entry]) {
    buffer.removeAll(keepingCapacity: buffer.capacity <= keptCapacity)
  }

  /// What the loop does next; after `.block` every put wakes it until `awake`.
  func beforeWait(driverIsIdle: Bool, mayBlock: Bool) -> WaitDecision {
    state.withLock { state in
      let action = state.lifecycle.beforeWait(
        driverIsIdle: driverIsIdle, messagesWait: state.hasMessages)
      switch action {
      case .tearDown: return .tearDown
      case .keepRunning:
        guard mayBlock, state.entries.isEmpty else { return .poll }
        state.isSleeping = true
        return .block
      }
    }
  }

  func awake() { state.withLock { $0.isSleeping = false } }

  func start() -> LoopLifecycleStateMachine.StartAction { state.withLock { $0.lifecycle.start() } }

  func close() -> CloseDecision {
    state.withLock { state in
      switch state.lifecycle.close() {
      case .none: return .none
      case .wakeLoop: return state.wake() ? .wakeLoop : .none
      case .stopAtOnce: return state.stopped()
      }
    }
  }

  /// The loop thread has done its last work, or could not be created.
  func finish() -> CloseDecision { state.withLock { $0.finish() } }

  /// Keeps the continuation until the loop has stopped; false when it already has.
  func keep(_ waiter: CheckedContinuation<Void, Never>) -> Bool {
    state.withLock { state in
      guard state.lifecycle.waiter() == .keep else { return false }
      state.waiters.append(waiter)
      return true
    }
  }

  /// For the late thread: takes what is there, or signs off and returns false.
  func takeLate(into buffer: inout [Entry]) -> Bool {
    state.withLock { state in
      guard !state.entries.isEmpty else {
        state.hasLateThread = false
        return false
      }
      swap(&state.entries, &buffer)
      return true
    }
  }
}
