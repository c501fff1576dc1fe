import Synchronization

/// A wait for one's turn, which ends once: by whoever gives the turn, by cancellation, or by a deadline.
final class Turn: Sendable {
  enum End: Sendable, Equatable { case go, cancelled, expired }

  private struct State: Sendable, AwaitedState {
    var end: End?
    var reader: UnsafeContinuation<Void, Never>?
    var hasNews: Bool { end != nil }
  }

  private let state = Mutex(State())

  /// Ends the wait; false when it had ended before.
  @discardableResult
  func end(_ end: End) -> Bool {
    let (isFirst, waiter) = state.withLock { state in
      guard state.end == nil else { return (false, UnsafeContinuation<Void, Never>?.none) }
      state.end = end
      return (true, state.reader.take())
    }
    waiter?.resume()
    return isFirst
  }

  /// Waits; `limit` is the longest.
  func wait(limit: Duration?, clock: PipelineClock) async -> End {
    var timer: Task<Void, Never>?
    if let limit {
      timer = Task { [self] in
        do { try await clock.sleep(limit) } catch { return }
        end(.expired)
      }
    }
    await state.waitForNews { [self] in end(.cancelled) }
    timer?.cancel()
    return state.withLock { $0.end } ?? .cancelled
  }
}
