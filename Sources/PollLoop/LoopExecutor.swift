import CLinux
import Glibc
import Synchronization

/// One loop thread as an executor: actors live on it, tasks may prefer it, and messages reach it in order
/// with both.
///
/// A type that is both a serial and a task executor gets both kinds of jobs through the same `enqueue` and
/// can't tell them apart. Such a job is run as isolated to this executor *and* as running on it by
/// preference; both are true on the loop thread. Tasks had better prefer a `LoopTaskExecutor`, whose jobs
/// are known. Either way no call of an actor on the loop by a task on the loop leaves the thread.
///
/// **After the end.** Jobs can arrive after the loop has stopped: a task still prefers it, an actor on it
/// still has callers. They must run, one at a time (the actor relies on it) and not inside `enqueue` (the
/// caller may hold a lock). A short-lived late thread takes them: it takes over the identity of the loop
/// thread, runs until the queue is empty, and ends. The global pool would be no good place: an actor's job
/// would lose its executor there.
// @unchecked: every stored property is an immutable reference to something that is safe by itself; the
// poller is used on the loop thread alone.
package final class LoopExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
  package let poller: Poller
  package let metrics = LoopMetrics()
  private let name: String
  private let wakeup: Wakeup
  private let queue = CommandQueue()
  /// The `pthread_t` of the thread that runs jobs now; 0 when there is none. A thread only ever looks for
  /// its own value, so no ordering is needed.
  private let owner = Atomic<UInt>(0)

  /// How often the queue is emptied again before descriptors get their turn.
  private static let roundsPerTurn = 16

  /// Creates the descriptors, not the thread. `name` names the thread (15 bytes at most are kept).
  package init(name: String) throws(PollLoopError) {
    self.name = name
    poller = try Poller()
    wakeup = try Wakeup()
    try poller.addWakeup(fd: wakeup.fd)
  }

  // MARK: Life

  /// Starts the thread, which keeps the executor and the driver alive until it ends. When no thread can be
  /// had, the loop counts as stopped.
  package func start(driver: any LoopDriver) throws(PollLoopError) {
    guard queue.start() == .createThread else { throw .notStartable }
    do {
      try LoopThread.run(name: name) { self.run(driver) }
    } catch {
      perform(queue.finish())
      throw error
    }
  }

  /// Only signals: the thread ends once the driver is idle and no message waits.
  package func closeWhenIdle() { perform(queue.close()) }

  /// Returns once the driver has been torn down and the loop thread runs nothing any more. May be called
  /// from a task on the loop itself.
  package func waitUntilStopped() async {
    await withCheckedContinuation { continuation in
      if !queue.keep(continuation) { continuation.resume() }
    }
  }

  // MARK: The door

  /// Hands a message to the loop, from any thread. False when the loop has stopped for good: the message
  /// was not taken and never arrives.
  @discardableResult
  package func post(_ receiver: any LoopMessageReceiver, _ code: UInt8) -> Bool {
    let action = queue.put(receiver, code)
    perform(action)
    return action != .refuse
  }

  package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  package func enqueue(_ job: UnownedJob) { perform(queue.put(job)) }

  func enqueue(_ job: UnownedJob, of executor: LoopTaskExecutor) {
    perform(queue.put(job, of: executor))
  }

  // MARK: Identity

  package var isOnLoopThread: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  package func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }

  /// Must not return when the caller is elsewhere: that is what the protocol asks for.
  package func checkIsolated() { precondition(isOnLoopThread, "not on the loop thread") }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    unsafe UnownedTaskExecutor(ordinary: self)
  }

  /// Nanoseconds of the monotonic clock.
  package static func monotonicNow() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  // MARK: The loop thread

  private func run(_ driver: any LoopDriver) {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    var buffer: [CommandQueue.Entry] = []
    turns: while true {
      let now = drain(&buffer, driver)
      let deadline = driver.nextDeadline()
      let mayBlock = deadline.map { $0 > now } ?? true
      let events: UnsafeBufferPointer<PollEvent>
      switch queue.beforeWait(driverIsIdle: driver.isIdle, mayBlock: mayBlock) {
      case .tearDown:
        break turns
      case .poll:
        unsafe events = poller.wait(timeout: 0)
      case .block:
        metrics.countBlockingWait()
        unsafe events = poller.wait(timeout: deadline.map { $0 - now })
        queue.awake()
      }
      metrics.countTurn()
      unsafe driver.turn(now: Self.monotonicNow(), events: events)
    }
    driver.tearDown()
    for _ in 0..<Self.roundsPerTurn where queue.take(into: &buffer) { runAll(&buffer) }
    owner.store(0, ordering: .relaxed)
    perform(queue.finish())
  }

  /// Runs what is queued, and what that puts in, and lets the driver follow it up, so that all of it is
  /// served without a wait in between. Returns the time.
  private func drain(_ buffer: inout [CommandQueue.Entry], _ driver: any LoopDriver) -> UInt64 {
    for _ in 0..<Self.roundsPerTurn {
      guard queue.take(into: &buffer) else { break }
      runAll(&buffer)
      if queue.take(into: &buffer) { runAll(&buffer) }
      driver.afterMessages(now: Self.monotonicNow())
    }
    return Self.monotonicNow()
  }

  private func runAll(_ buffer: inout [CommandQueue.Entry]) {
    let serial = unsafe asUnownedSerialExecutor()
    let task = unsafe asUnownedTaskExecutor()
    for entry in buffer {
      switch entry {
      case .message(let receiver, let code): receiver.receive(code)
      case .taskJob(let job, let executor):
        unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
      case .job(let job): unsafe job.runSynchronously(isolatedTo: serial, taskExecutor: task)
      }
    }
    CommandQueue.recycle(&buffer)
  }

  // MARK: Effects of the queue's decisions, never under its lock

  private func perform(_ action: CommandQueue.PutAction) {
    switch action {
    case .none, .refuse: break
    case .wakeLoop: wakeLoop()
    case .startLateThread: startLateThread()
    }
  }

  private func perform(_ decision: CommandQueue.CloseDecision) {
    switch decision {
    case .none: break
    case .wakeLoop: wakeLoop()
    case .resume(let waiters, let needsLateThread):
      if needsLateThread { startLateThread() }
      for waiter in waiters { waiter.resume() }
    }
  }

  private func wakeLoop() {
    metrics.countWakeUp()
    wakeup.signal()
  }

  private func startLateThread() {
    do {
      try LoopThread.run(name: name) { self.runLate() }
    } catch {
      // No thread to be had: running the jobs right here is all that is left, and better than losing them.
      runLate()
    }
  }

  private func runLate() {
    var buffer: [CommandQueue.Entry] = []
    // The next late thread may start as soon as this one has signed off: the identity is given up before.
    while queue.takeLate(into: &buffer) {
      owner.store(UInt(pthread_self()), ordering: .relaxed)
      runAll(&buffer)
      owner.store(0, ordering: .relaxed)
    }
  }
}
