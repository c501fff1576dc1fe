import Synchronization

/// Cheap counters of one loop, readable from any thread.
package final class LoopMetrics: Sendable {
  private let turnCount = Atomic<Int>(0)
  private let blockingWaitCount = Atomic<Int>(0)
  private let wakeUpCount = Atomic<Int>(0)

  /// Turns of the loop, each with one wait.
  package var turns: Int { turnCount.load(ordering: .relaxed) }
  /// Waits that could block.
  package var blockingWaits: Int { blockingWaitCount.load(ordering: .relaxed) }
  /// Writes to the wake-up descriptor.
  package var wakeUpsWritten: Int { wakeUpCount.load(ordering: .relaxed) }

  // Only the loop thread counts these two: a load and a store are cheaper than an atomic addition.
  func countTurn() { turnCount.store(turnCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }
  func countBlockingWait() {
    blockingWaitCount.store(blockingWaitCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }
  func countWakeUp() { wakeUpCount.wrappingAdd(1, ordering: .relaxed) }
}
