import Synchronization

/// Where a download's workers stop while it is paused.
final class PauseGate: Sendable {
  private struct State: Sendable {
    var isPaused = false
    var isOpenForGood = false
    var sleepers = Sleepers<Int>()
    var lastKey = 0
  }

  private let state = Mutex(State())

  var isPaused: Bool { state.withLock { $0.isPaused } }

  func pause() { state.withLock { $0.isPaused = !$0.isOpenForGood } }

  /// Nothing is held here any more.
  func open() {
    state.withLock { $0.isOpenForGood = true }
    resume()
  }

  func resume() {
    let sleepers = state.withLock { state in
      state.isPaused = false
      return state.sleepers.wakeAll()
    }
    for sleeper in sleepers { sleeper.resume() }
  }

  /// Returns when it isn't paused, or the task is cancelled.
  func pass() async {
    while isPaused, !Task.isCancelled {
      let key = state.withLock { state in
        state.lastKey += 1
        return state.lastKey
      }
      await state.sleep(key, in: \.sleepers) { $0.isPaused }
    }
  }
}
