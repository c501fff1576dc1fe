import Synchronization

/// What the observers of one download share: the events that nobody may miss, the latest progress, the result.
final class DownloadState: Sendable {
  private struct State: Sendable {
    /// Started and the end, in order.
    var notices: [DownloadEvent] = []
    var progress = TransferProgress()
    var progressVersion = 0
    var result: Result<DownloadedFile, HTTPError>?
    var sleepers: [Int: UnsafeContinuation<Void, Never>] = [:]
    var nextSleeper = 0
    var owners = 0
  }

  private let state = Mutex(State())
  /// The task that does the work; set once, right after it is made.
  private let task = Mutex<Task<Void, Never>?>(nil)

  func run(_ work: @escaping @Sendable () async -> Void) {
    let made = Task.detached { await work() }
    task.withLock { $0 = made }
  }

  func cancel() { task.withLock { $0 }?.cancel() }

  // MARK: the work's side

  func notify(_ event: DownloadEvent) {
    wake { $0.notices.append(event) }
  }

  func report(_ progress: TransferProgress) {
    wake {
      $0.progress = progress
      $0.progressVersion += 1
    }
  }

  func finish(_ result: Result<DownloadedFile, HTTPError>) {
    wake { state in
      guard state.result == nil else { return }
      state.result = result
      switch result {
      case .success(let file): state.notices.append(.finished(file))
      case .failure(let error): state.notices.append(.failed(error))
      }
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let sleepers = state.withLock { state in
      change(&state)
      let sleepers = state.sleepers
      state.sleepers = [:]
      return sleepers
    }
    for sleeper in sleepers.values { sleeper.resume() }
  }

  // MARK: the observers' side

  var progress: TransferProgress { state.withLock { $0.progress } }

  /// One observer's place.
  struct Position: Sendable {
    var notices = 0
    var progressVersion = 0
  }

  enum Look: Sendable {
    case event(DownloadEvent)
    case wait
    case ended
  }

  /// The next event after a position: notices in order, progress between them as the latest value.
  func look(_ position: inout Position) -> Look {
    let (look, next) = state.withLock { [position] state in
      var next = position
      // Progress belongs between `started` and the end.
      let isBeforeEnd = next.notices + 1 < state.notices.count || state.result == nil
      if next.notices > 0, isBeforeEnd || next.notices == state.notices.count - 1,
        state.progressVersion > next.progressVersion
      {
        next.progressVersion = state.progressVersion
        return (Look.event(.progress(state.progress)), next)
      }
      guard next.notices < state.notices.count else {
        return (state.result == nil ? .wait : .ended, next)
      }
      next.notices += 1
      return (.event(state.notices[next.notices - 1]), next)
    }
    position = next
    return look
  }

  var result: Result<DownloadedFile, HTTPError>? { state.withLock { $0.result } }

  /// Sleeps until something has changed since `position`, the end has come, or the task is cancelled.
  func sleep(after position: Position) async {
    let key = state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let sleeps = state.withLock { state in
          guard state.result == nil, state.notices.count == position.notices,
            state.progressVersion == position.progressVersion, !Task.isCancelled
          else { return false }
          state.sleepers[key] = continuation
          return true
        }
        if !sleeps { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: key) }?.resume()
    }
  }

  /// Waits for the end, whatever happens on the way.
  func waitForResult() async throws(HTTPError) -> DownloadedFile {
    state.withLock { $0.owners += 1 }
    defer { state.withLock { $0.owners -= 1 } }
    while true {
      if let result { return try result.get() }
      if Task.isCancelled {
        // The last one who waited takes the download along.
        if state.withLock({ $0.owners }) == 1 { cancel() }
        throw HTTPError.cancelled
      }
      let position = state.withLock {
        Position(notices: $0.notices.count, progressVersion: $0.progressVersion)
      }
      await sleep(after: position)
    }
  }
}
