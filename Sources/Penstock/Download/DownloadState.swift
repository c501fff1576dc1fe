import Synchronization

/// The state of one download with its lock, its task and those who sleep until it changes.
final class DownloadState: Sendable {
  private struct State: Sendable {
    var machine = DownloadStateMachine()
    /// Those who sleep until any change, and until the end.
    var observers = Sleepers<Int>()
    var waiters = Sleepers<Int>()
    var lastKey = 0
  }

  private typealias Place = any WritableKeyPath<State, Sleepers<Int>> & Sendable

  private let state = Mutex(State())
  /// The task that does the work; set once, before anybody else sees the state.
  private let task = Mutex<Task<Void, Never>?>(nil)

  func run(_ work: @escaping @Sendable () async -> Void) {
    let made = Task.detached { await work() }
    task.withLock { $0 = made }
  }

  func cancel() { task.withLock { $0 }?.cancel() }

  // MARK: the work's side

  func start(_ start: DownloadStart) { change { $0.start(start) } }

  func note(_ event: DownloadEvent) { change { $0.note(event) } }

  func report(_ progress: TransferProgress) { change { $0.report(progress) } }

  func finish(_ result: Result<DownloadedFile, HTTPError>) { change { $0.finish(result) } }

  private func change(_ body: (inout DownloadStateMachine) -> Void) {
    let sleepers = state.withLock { state in
      body(&state.machine)
      return state.observers.wakeAll() + (state.machine.result == nil ? [] : state.waiters.wakeAll())
    }
    for sleeper in sleepers { sleeper.resume() }
  }

  // MARK: the observers' side

  var progress: TransferProgress { state.withLock { $0.machine.progress } }

  var waiting: Int { state.withLock { $0.machine.owners } }

  var result: Result<DownloadedFile, HTTPError>? { state.withLock { $0.machine.result } }

  /// The next event after a position; nil after the last one, or when the task is cancelled.
  func next(_ position: inout DownloadStateMachine.Position) async -> DownloadEvent? {
    while true {
      let (look, next) = state.withLock { [position] state in
        var next = position
        return (state.machine.look(&next), next)
      }
      position = next
      switch look {
      case .event(let event): return event
      case .ended: return nil
      case .wait:
        if Task.isCancelled { return nil }
        await sleep(in: \.observers) { machine in
          var position = next
          if case .wait = machine.look(&position) { return true }
          return false
        }
      }
    }
  }

  /// Waits for the end, whatever happens on the way.
  func waitForResult() async throws(HTTPError) -> DownloadedFile {
    state.withLock { $0.machine.enter() }
    while true {
      if let result {
        _ = state.withLock { $0.machine.leave(isCancelled: false) }
        return try result.get()
      }
      if Task.isCancelled {
        switch state.withLock({ $0.machine.leave(isCancelled: true) }) {
        case .goOn: throw HTTPError.cancelled
        case .cancelDownload:
          cancel()
          return try await end().get()
        }
      }
      await sleep(in: \.waiters) { $0.result == nil }
    }
  }

  /// The end of a download that was cancelled: nothing is left behind when this returns.
  private func end() async -> Result<DownloadedFile, HTTPError> {
    while true {
      if let result { return result }
      // In a task that isn't cancelled: this one is.
      await Task { await self.sleep(in: \.waiters) { $0.result == nil } }.value
    }
  }

  /// Sleeps until there is a change, or the task is cancelled.
  private func sleep(in place: Place, while isNeeded: (DownloadStateMachine) -> Bool) async {
    let key = state.withLock { state in
      state.lastKey += 1
      return state.lastKey
    }
    await state.sleep(key, in: place) { isNeeded($0.machine) }
  }
}
