internal import StreamCore
internal import Synchronization

/// What a scripted server has seen, and those who wait for more.
final class ServerLog: Sendable {
  struct State {
    var connections: [ConnectionRecord] = []
    /// In the order in which their heads came.
    var requests: [RecordedRequest] = []
    var history: [ScriptedServerEvent] = []
    var hasEnded = false
    fileprivate var subscribers: [AsyncStream<ScriptedServerEvent>.Continuation] = []
    fileprivate var waiters: [Int: Waiter] = [:]
    fileprivate var nextWaiter = 0
  }

  fileprivate struct Waiter {
    var isMet: @Sendable (State) -> Bool
    var continuation: CheckedContinuation<Result<State, TestServerError>, Never>
  }

  private let state = Mutex(State())

  var snapshot: State { state.withLock { $0 } }

  /// Changes the state, publishes what the change returns, then resumes those whose condition is met.
  func update(_ change: (inout State) -> ScriptedServerEvent?) {
    let (met, reached): ([Waiter], State?) = state.withLock { state in
      let event = change(&state)
      if let event { state.history.append(event) }
      var met: [Waiter] = []
      if !state.waiters.isEmpty {
        for (id, waiter) in state.waiters where waiter.isMet(state) {
          met.append(waiter)
          state.waiters[id] = nil
        }
      }
      // Yielded under the lock, so that every subscriber sees one order; yielding runs no foreign code.
      if let event { for subscriber in state.subscribers { subscriber.yield(event) } }
      return (met, met.isEmpty ? nil : state)
    }
    if let reached { for waiter in met { waiter.continuation.resume(returning: .success(reached)) } }
  }

  /// No more events: ends the streams and fails the waits.
  func end() {
    let (subscribers, waiters) = state.withLock { state in
      state.hasEnded = true
      defer {
        state.subscribers = []
        state.waiters = [:]
      }
      return (state.subscribers, Array(state.waiters.values))
    }
    for subscriber in subscribers { subscriber.finish() }
    for waiter in waiters { waiter.continuation.resume(returning: .failure(.stopped)) }
  }

  /// All events from the start, then those to come.
  func events() -> AsyncStream<ScriptedServerEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ScriptedServerEvent.self)
    let hasEnded = state.withLock { state in
      for event in state.history { continuation.yield(event) }
      if !state.hasEnded { state.subscribers.append(continuation) }
      return state.hasEnded
    }
    if hasEnded { continuation.finish() }
    return stream
  }

  /// Waits until a condition on the state holds.
  func wait(
    for what: String, timeout: Duration, until isMet: @escaping @Sendable (State) -> Bool
  ) async throws(TestServerError) -> State {
    let id = state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    let timer = Task {
      do { try await Task.sleep(for: timeout) } catch { return }
      self.fail(id, .timedOut(waitingFor: what))
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let early: Result<State, TestServerError>? = state.withLock { state in
          if isMet(state) { return .success(state) }
          if state.hasEnded { return .failure(.stopped) }
          state.waiters[id] = Waiter(isMet: isMet, continuation: continuation)
          return nil
        }
        if let early { return continuation.resume(returning: early) }
        // The handler may have run before there was anything to fail.
        if Task.isCancelled { fail(id, .cancelled) }
      }
    } onCancel: {
      fail(id, .cancelled)
    }
    return try result.get()
  }

  private func fail(_ id: Int, _ error: TestServerError) {
    let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
    waiter?.continuation.resume(returning: .failure(error))
  }
}
