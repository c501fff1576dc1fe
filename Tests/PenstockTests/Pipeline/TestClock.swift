import StreamCore
import Synchronization

@testable import Penstock

/// Time that a test moves. A sleep ends at once and moves the time on, unless it was told to wait for `fire`.
final class TestClock: Sendable {
  private struct State: Sendable {
    var now = MonotonicInstant.now
    var sleeps: [Duration] = []
    var holds = false
    var sleepers: [Int: CheckedContinuation<Bool, Never>] = [:]
    var ended: Set<Int> = []
    var lastID = 0
  }

  private let state: Mutex<State>
  let epoch: Int64
  let random: Double

  /// - Parameter holds: whether sleeps wait for `fire`.
  init(holds: Bool = false, epoch: Int64 = 784_111_777, random: Double = 0.5) {
    self.epoch = epoch
    self.random = random
    state = Mutex(State(holds: holds))
  }

  var now: MonotonicInstant { state.withLock { $0.now } }
  /// What was slept, in order.
  var sleeps: [Duration] { state.withLock { $0.sleeps } }
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  func advance(_ duration: Duration) { state.withLock { $0.now += duration } }

  /// Ends all sleeps that wait.
  func fire() {
    let sleepers = state.withLock { state in
      defer { state.sleepers = [:] }
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.resume(returning: true) }
  }

  var pipeline: PipelineClock {
    PipelineClock(
      now: { self.now }, sleep: { try await self.sleep($0) }, secondsSinceEpoch: { self.epoch },
      random: { self.random })
  }

  private func sleep(_ duration: Duration) async throws {
    try Task.checkCancellation()
    let id: Int? = state.withLock { state in
      state.sleeps.append(duration)
      guard state.holds else {
        state.now += duration
        return nil
      }
      state.lastID += 1
      return state.lastID
    }
    guard let id else { return }
    let fired = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.ended.remove(id) != nil { return true }
          state.sleepers[id] = continuation
          return false
        }
        if isOver { continuation.resume(returning: false) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.ended.insert(id) }
        return sleeper
      }
      sleeper?.resume(returning: false)
    }
    if !fired { throw CancellationError() }
  }
}
