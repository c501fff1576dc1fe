import CurlTransport
import Synchronization

/// One batch under way: the state machine behind a lock, a few workers, one consumer.
///
/// A worker is a task that performs exchanges one after another. There is none per waiting input: one worker at a
/// time reads the next input, performs it, and leaves the reading to another. So with all places taken, an
/// exchange costs no switch of tasks but its own. Workers come as they are needed, one waking the next, and never
/// are more than the limit of exchanges and one.
final class BatchRun: Sendable {
  typealias Machine = BatchStateMachine

  private struct State: AwaitedState {
    var machine: Machine
    var sleepers: [UnsafeContinuation<Void, Never>] = []
    /// The consumer, while it waits for results.
    var reader: UnsafeContinuation<Void, Never>?
    var workers: [Task<Void, Never>] = []
    var workerCount = 0
    /// Workers that were woken or made and haven't looked for work yet.
    var waking = 0
    /// Tells a worker that is about to sleep whether something has happened since it looked.
    var generation: UInt64 = 0
    var alarm: MonotonicInstant?
    var alarmTask: Task<Void, Never>?
    var pace = BatchPace()
    var spent = BatchSpent()
    var hasCancelled = false
    var isClaimed = false
    var endingKey: UInt64?
    var isConsumerCancelled = false
    var hasNews: Bool { machine.hasResults || machine.isOver || isConsumerCancelled }
  }

  /// What is to be done once the lock is let go.
  private struct FollowUp {
    var consumer: UnsafeContinuation<Void, Never>?
    var sleeper: UnsafeContinuation<Void, Never>?
    var allSleepers: [UnsafeContinuation<Void, Never>] = []
    /// The number of a new worker.
    var spawns: Int?
    var setsPace = false
    var alarm: MonotonicInstant?
    var cancels: [Task<Void, Never>] = []
  }

  private enum Report {
    case began
    case received(BatchItem)
    case sourceEnded(HTTPError?)
    case finished(BatchItem, Machine.Outcome)
  }

  private enum Step: Sendable {
    case perform(BatchItem)
    case read
    case rest(UInt64)
    case end
  }

  private let performer: BatchPerformer
  private let steps: BatchSteps
  private let source: BatchSource
  /// Why the batch can't begin.
  let invalidSetting: String?
  private let joinsIdentical: Bool
  private let staysOnLoop: Bool
  private let mostWorkers: Int
  private let state: Mutex<State>
  /// Wakes the consumer for results that nothing has followed.
  private let paceAlarm = Mutex<LoopAlarm?>(nil)

  init(client: Client, source: BatchSource, steps: BatchSteps, settings: BatchSettings) {
    performer = BatchPerformer(client: client, exchange: steps.exchange, settings: settings)
    self.steps = steps
    self.source = source
    invalidSetting = settings.invalidSetting
    joinsIdentical = settings.options.joinsIdentical
    staysOnLoop = settings.options.staysOnLoop ?? settings.isBuiltIn
    mostWorkers = settings.limits.total + 1
    state = Mutex(State(machine: Machine(settings, begin: .now)))
  }

  // MARK: the consumer

  deinit {
    if let key = state.withLock({ $0.endingKey }) { performer.client.ending.forget(key) }
  }

  /// True for the first caller.
  func claim() -> Bool {
    let isFirst = state.withLock { state in
      if state.isClaimed { return false }
      state.isClaimed = true
      state.machine.begins(at: .now)
      return true
    }
    guard isFirst else { return false }
    let key = performer.client.ending.whenEnded { [weak self] in
      self?.change { $0.machine.hurry(now: .now) }
    }
    state.withLock { $0.endingKey = key }
    return true
  }

  /// The next results. `spent`: those of the last time, which are the run's again.
  func take(giving spent: [BatchItem]) -> Machine.Taken {
    change { state in
      // Of a caller's own values nobody knows how large they are.
      if staysOnLoop { state.spent.give(spent) }
      if state.isConsumerCancelled { return .end(.cancelled) }
      return state.machine.take()
    }
  }

  /// Returns when there may be something to take.
  func waitForResults() async { await state.waitForNews { cancelConsumer() } }

  func cancelConsumer() {
    change { state in
      state.isConsumerCancelled = true
      state.machine.abandon()
    }
  }

  /// Nobody takes results any more.
  func abandon() { change { $0.machine.abandon() } }

  func drain() { change { $0.machine.drain(now: .now) } }
  func stop() { change { $0.machine.stop(now: .now) } }

  var status: BatchStatus {
    state.withLock { state in
      BatchStatus(read: state.machine.readCount, running: state.machine.running, queued: state.machine.queued)
    }
  }

  // MARK: workers

  private func work(_ home: Int) async {
    var report = Report.began
    while true {
      switch step(report, home) {
      case .perform(let item):
        item.home = home
        report = .finished(item, await performer.perform(item, self))
      case .read: report = await read()
      case .rest(let generation):
        await rest(generation)
        report = .began
      case .end: return
      }
    }
  }

  private func step(_ report: Report, _ home: Int) -> Step {
    let now = MonotonicInstant.now
    var spent: [BatchItem] = []
    defer { withExtendedLifetime(spent) {} }  // let go outside the lock
    return change(now) { state in
      spent = state.spent.take(home)
      switch report {
      case .began: state.waking = max(0, state.waking - 1)
      case .received(let item): state.machine.received(item, now: now)
      case .sourceEnded(let error): state.machine.sourceEnded(error)
      case .finished(let item, let outcome): state.machine.finished(item, outcome, now: now)
      }
      switch state.machine.next(now: now) {
      case .perform(let item): return .perform(item)
      case .read: return .read
      // Its own look was the last thing that happened, with the count that `change` is about to make.
      case .rest: return .rest(state.generation &+ 1)
      case .end: return .end
      }
    }
  }

  private func read() async -> Report {
    do throws(HTTPError) {
      guard let item = try await source.next() else { return .sourceEnded(nil) }
      do throws(HTTPError) {
        let request = try steps.request(item)
        if joinsIdentical { item.key = steps.joinKey(item, request) }
        item.request = request
      } catch {
        item.fail(error)
      }
      return .received(item)
    } catch {
      return .sourceEnded(error)
    }
  }

  private func rest(_ generation: UInt64) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let sleeps = state.withLock { state in
        guard state.generation == generation else { return false }
        state.sleepers.append(continuation)
        return true
      }
      if !sleeps { continuation.resume() }
    }
  }

  /// What a performer learns while it is at it.
  func sized(_ ticket: Int, bytes: Int64) { state.withLock { $0.machine.sized(ticket, bytes: bytes) } }
  func slowDown(_ ticket: Int, to delay: Duration) {
    change { $0.machine.slowDown(ticket, to: delay, now: .now) }
  }

  // MARK: what follows from a change

  private func change<Answer: Sendable>(
    _ now: MonotonicInstant = .now, _ body: (inout State) -> Answer
  ) -> Answer {
    var followUp = FollowUp()
    let value = state.withLock { state in
      let value = body(&state)
      state.generation &+= 1
      Self.prepare(&followUp, &state, mostWorkers, now)
      return value
    }
    carryOut(followUp)
    return value
  }

  private static func prepare(
    _ followUp: inout FollowUp, _ state: inout State, _ mostWorkers: Int, _ now: MonotonicInstant
  ) {
    if state.reader != nil, state.hasNews {
      let isUrgent = state.machine.isOver || state.isConsumerCancelled
      switch state.pace.news(
        ready: isUrgent ? .max : state.machine.readyCount, running: state.machine.running)
      {
      case .wake: followUp.consumer = state.reader.take()
      case .setAlarm: followUp.setsPace = true
      case .wait: break
      }
    }
    // At the end a worker may still wait for an input that nobody wants any more.
    if state.machine.cancelsRunning || state.machine.hasEnded, !state.hasCancelled {
      state.hasCancelled = true
      followUp.cancels = state.workers
    }
    if state.machine.hasEnded {
      followUp.allSleepers = state.sleepers
      state.waking += state.sleepers.count
      state.sleepers = []
      if let task = state.alarmTask.take() { followUp.cancels.append(task) }
      return
    }
    guard state.isClaimed else { return }
    if state.waking == 0, state.machine.hasMore(now: now) {
      if let sleeper = state.sleepers.popLast() {
        state.waking += 1
        followUp.sleeper = sleeper
      } else if state.workerCount < mostWorkers {
        state.waking += 1
        followUp.spawns = state.workerCount
        state.workerCount += 1
      }
    }
    if let deadline = state.machine.nextDeadline(now: now), state.alarm.map({ deadline < $0 }) ?? true {
      state.alarm = deadline
      followUp.alarm = deadline
      if let task = state.alarmTask.take() { followUp.cancels.append(task) }
    }
  }

  private func carryOut(_ followUp: FollowUp) {
    for task in followUp.cancels { task.cancel() }
    followUp.consumer?.resume()
    followUp.sleeper?.resume()
    for sleeper in followUp.allSleepers { sleeper.resume() }
    if followUp.setsPace { setPace() }
    if let number = followUp.spawns { spawn(number) }
    if let alarm = followUp.alarm { setAlarm(alarm) }
  }

  private func spawn(_ number: Int) {
    let task = Task {
      if staysOnLoop, let curl = performer.client.curl {
        let home = number % max(1, performer.client.configuration.loops)
        do {
          // What a worker asks for stays on its loop: the loops share the work evenly.
          try await curl.onLoop(home) { await self.work(home) }
          return
        } catch {
          // The loop is gone: every exchange will say so.
        }
      }
      await work(0)
    }
    let isTooLate = state.withLock { state in
      state.workers.append(task)
      return state.hasCancelled
    }
    if isTooLate { task.cancel() }
  }

  private func setPace() {
    let alarm = paceAlarm.withLock { kept in
      let alarm =
        kept ?? performer.client.curl?.alarm(after: BatchPace.delay) { [weak self] in self?.paceRings() }
      kept = alarm
      return alarm
    }
    if alarm?.set() != true { paceRings() }
  }

  private func paceRings() { change { $0.pace.rings() } }

  private func setAlarm(_ time: MonotonicInstant) {
    let task = Task { [weak self] in
      try? await Task.sleep(for: time - .now)
      if !Task.isCancelled { self?.alarmRings(time) }
    }
    let isTooLate = state.withLock { state in
      guard state.alarm == time, !state.machine.hasEnded else { return true }
      state.alarmTask = task
      return false
    }
    if isTooLate { task.cancel() }
  }

  private func alarmRings(_ time: MonotonicInstant) {
    change { state in
      if state.alarm == time {
        state.alarm = nil
        state.alarmTask = nil
      }
    }
  }
}
