import Synchronization

/// Whether a client was shut down, and who must know: waits between attempts, which no transport would end.
final class ClientEnding: Sendable {
  private struct State: Sendable {
    var hasEnded = false
    var actions: [UInt64: @Sendable () -> Void] = [:]
    var lastKey: UInt64 = 0
  }

  private let state = Mutex(State())

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The client was shut down.
  func end() {
    let actions = state.withLock { state in
      state.hasEnded = true
      defer { state.actions = [:] }
      return Array(state.actions.values)
    }
    for action in actions { action() }
  }

  /// Calls the closure when the client is shut down, at once if it was; the key is for `forget`.
  func whenEnded(_ action: @escaping @Sendable () -> Void) -> UInt64 {
    let key = state.withLock { state -> UInt64? in
      guard !state.hasEnded else { return nil }
      state.lastKey += 1
      state.actions[state.lastKey] = action
      return state.lastKey
    }
    if key == nil { action() }
    return key ?? 0
  }

  func forget(_ key: UInt64) { state.withLock { _ = $0.actions.removeValue(forKey: key) } }

  /// Waits. Throws `HTTPError.Kind.shutdown` when the client is shut down meanwhile, and what the wait throws.
  func wait(_ wait: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await wait() }
    let key = whenEnded { task.cancel() }
    defer { forget(key) }
    do {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch {
      guard hasEnded, !Task.isCancelled else { throw error }
      throw HTTPError(.shutdown, phase: .queue, message: "the client was shut down")
    }
  }

  /// Waits for so long, or until the client is shut down or the task cancelled: what comes then sees it.
  func sleep(_ duration: Duration) async {
    try? await wait { try await Task.sleep(for: duration) }
  }
}
