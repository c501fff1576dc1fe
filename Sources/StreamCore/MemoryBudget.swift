import Synchronization

/// Body bytes that all streams of a client hold together; above the limit each stream is held early.
package final class MemoryBudget: Sendable {
  private let held = Atomic<Int>(0)
  package let limit: Int

  package init(limit: Int) { self.limit = limit }

  package var isExceeded: Bool { held.load(ordering: .relaxed) >= limit }
  /// Bytes held now.
  package var used: Int { held.load(ordering: .relaxed) }

  package func reserve(_ count: Int) { held.wrappingAdd(count, ordering: .relaxed) }
  package func release(_ count: Int) {
    if count > 0 { held.wrappingSubtract(count, ordering: .relaxed) }
  }
}
