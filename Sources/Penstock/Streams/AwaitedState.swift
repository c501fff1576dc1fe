import Synchronization

/// What a lock guards where one reader sleeps until there is something to look at.
protocol AwaitedState {
  /// The reader, while it sleeps: whoever has news takes it and resumes it outside the lock.
  var reader: UnsafeContinuation<Void, Never>? { get set }
  /// Whether there is something to look at: then nobody goes to sleep.
  var hasNews: Bool { get }
}

extension Mutex where Value: AwaitedState {
  /// Sleeps until there is news; returns at once where there is some. `stop` is what a cancelled reader does.
  func waitForNews(onCancel stop: @Sendable () -> Void) async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let sleeps = withLock { state in
          if state.hasNews { return false }
          state.reader = continuation
          return true
        }
        if !sleeps { continuation.resume() }
      }
    } onCancel: {
      stop()
    }
  }
}
