import StreamCore

/// Runs the operations of one store one after another, each to its end, whoever still waits for it.
actor StoreQueue {
  private var last: Task<Void, Never>?

  /// - Parameter leavingWhenCancelled: whether a cancelled task throws `cancelled` at once; the operation goes on.
  func run<Value: Sendable>(
    leavingWhenCancelled: Bool = false,
    _ operation: @escaping @Sendable () async throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value {
    let previous = last
    let task = Task.detached { () -> Result<Value, HTTPError> in
      await previous?.value
      do throws(HTTPError) {
        return .success(try await operation())
      } catch {
        return .failure(error)
      }
    }
    last = Task { _ = await task.value }
    guard leavingWhenCancelled else { return try await task.value.get() }
    let turn = Turn()
    let waiting = Task {
      _ = await task.value
      turn.end(.go)
    }
    guard await turn.wait(limit: nil, clock: .system) == .go else {
      waiting.cancel()
      throw HTTPError.cancelled
    }
    return try await task.value.get()
  }
}
