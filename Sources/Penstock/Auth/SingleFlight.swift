import StreamCore
import Synchronization

/// One piece of work for all who want its outcome at the same time. A waiter that is cancelled leaves alone; the work
/// stops when nobody waits.
final class SingleFlight<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, HTTPError>

  private enum Sleeper: Sendable {
    case entering
    case asleep(UnsafeContinuation<Outcome, Never>)
    case told(Outcome)
  }

  private struct State: Sendable {
    var number = 0
    var lastKey = 0
    var isRunning = false
    var task: Task<Void, Never>?
    var sleepers: [Int: Sleeper] = [:]
    /// Those who wait for the present run.
    var waiters: Set<Int> = []
  }

  private let state = Mutex(State())

  /// The outcome of the work under way, or of this one.
  func run(_ work: @escaping @Sendable () async throws(HTTPError) -> Value) async throws(HTTPError) -> Value {
    if Task.isCancelled { throw HTTPError.cancelled }
    let (key, number, mustStart) = state.withLock { state in
      state.lastKey += 1
      state.sleepers[state.lastKey] = .entering
      state.waiters.insert(state.lastKey)
      let mustStart = !state.isRunning
      if mustStart {
        state.isRunning = true
        state.number += 1
      }
      return (state.lastKey, state.number, mustStart)
    }
    if mustStart { start(number, work) }
    let outcome = await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Outcome, Never>) in
        let told = state.withLock { state -> Outcome? in
          if case .told(let outcome) = state.sleepers[key] {
            state.sleepers[key] = nil
            return outcome
          }
          state.sleepers[key] = .asleep(continuation)
          return nil
        }
        if let told { continuation.resume(returning: told) }
      }
    } onCancel: {
      leave(key)
    }
    return try outcome.get()
  }

  private func start(_ number: Int, _ work: @escaping @Sendable () async throws(HTTPError) -> Value) {
    let skipped = AuthExemption.skipped
    let task = Task.detached { [self] in
      let outcome = await AuthExemption.$skipped.withValue(skipped) { () -> Outcome in
        do throws(HTTPError) {
          return .success(try await work())
        } catch {
          return .failure(error)
        }
      }
      finish(number, outcome)
    }
    let isCurrent = state.withLock { state in
      guard state.isRunning, state.number == number else { return false }
      state.task = task
      return true
    }
    if !isCurrent { task.cancel() }
  }

  private func finish(_ number: Int, _ outcome: Outcome) {
    let sleepers = state.withLock { state -> [UnsafeContinuation<Outcome, Never>] in
      guard state.isRunning, state.number == number else { return [] }
      state.isRunning = false
      state.task = nil
      let waiters = state.waiters
      state.waiters = []
      return waiters.compactMap { Self.wake($0, outcome, &state) }
    }
    for sleeper in sleepers { sleeper.resume(returning: outcome) }
  }

  private func leave(_ key: Int) {
    let (sleeper, task) = state.withLock {
      state -> (UnsafeContinuation<Outcome, Never>?, Task<Void, Never>?) in
      guard state.waiters.remove(key) != nil else { return (nil, nil) }
      var task: Task<Void, Never>?
      if state.waiters.isEmpty {
        state.isRunning = false
        task = state.task.take()
      }
      return (Self.wake(key, .failure(HTTPError.cancelled), &state), task)
    }
    task?.cancel()
    sleeper?.resume(returning: .failure(HTTPError.cancelled))
  }

  private static func wake(
    _ key: Int, _ outcome: Outcome, _ state: inout State
  ) -> UnsafeContinuation<Outcome, Never>? {
    switch state.sleepers[key] {
    case .asleep(let continuation):
      state.sleepers[key] = nil
      return continuation
    case .entering: state.sleepers[key] = .told(outcome)
    case .told, nil: break
    }
    return nil
  }
}
