import StreamCore

/// Runs the operations of one store one after another, each to its end, whoever still waits for it.
actor StoreQueue {
  private var last: Task<Void, Never>?

  func run<Value: Sendable>(
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
    return try await task.value.get()
  }
}
