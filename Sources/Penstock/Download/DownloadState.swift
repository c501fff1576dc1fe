import Synchronization

/// The state of one download with its lock, its task and those who sleep until it changes.
final class DownloadState: Sendable {
  private struct State: Sendable {
    var machine = DownloadStateMachine()
    /// Those who sleep until any change, and until the end.
    var sleepers: [Until: [Int: UnsafeContinuation<Void, Never>]] = [:]
    var lastKey = 0
  }

  private enum Until: Sendable { case change, end }

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
      let observers = state.sleepers.removeValue(forKey: .change)
      let waiters = state.machine.result == nil ? nil : state.sleepers.removeValue(forKey: .end)
      return [observers, waiters]
    }
    for group in sleepers {
      for sleeper in (group ?? [:]).values { sleeper.resume() }
    }
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
        await sleep(until: .change) { machine in
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
      await sleep(until: .end) { $0.result == nil }
    }
  }

  /// The end of a download that was cancelled: nothing is left behind when this returns.
  private func end() async -> Result<DownloadedFile, HTTPError> {
    while true {
      if let result { return result }
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        put(continuation, until: .end) { $0.result == nil }
      }
    }
  }

  /// Sleeps until there is a change, or the task is cancelled.
  private func sleep(until: Until, while isNeeded: (DownloadStateMachine) -> Bool) async {
    let key = state.withLock { state in
      state.lastKey += 1
      return state.lastKey
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        put(continuation, key, until: until) { isNeeded($0) && !Task.isCancelled }
      }
    } onCancel: {
      state.withLock { $0.sleepers[until]?.removeValue(forKey: key) }?.resume()
    }
  }

  private func put(
    _ continuation: UnsafeContinuation<Void, Never>, _ key: Int? = nil, until: Until,
    while isNeeded: (DownloadStateMachine) -> Bool
  ) {
    let sleeps = state.withLock { state in
      guard isNeeded(state.machine) else { return false }
      state.lastKey += 1
      state.sleepers[until, default: [:]][key ?? state.lastKey] = continuation
      return true
    }
    if !sleeps { continuation.resume() }
  }
}
