import Synchronization

/// Keeps returned slabs of two sizes for the next stream; small bodies get exact blocks outside it.
package final class SlabPool: Sendable {
  private struct Free: @unchecked Sendable {
    // Sendable: the blocks in here belong to nobody else, and the mutex guards the lists.
    var small: [UnsafeMutableRawPointer] = []
    var large: [UnsafeMutableRawPointer] = []
  }

  package static let exactLimit = 4 << 10
  package static let smallSize = 64 << 10
  package static let largeSize = 128 << 10

  private let free = Mutex(Free())
  private let liveSlabs = Atomic<Int>(0)
  /// How many idle blocks of each size are kept.
  private let keep: Int

  package init(keep: Int = 32) { self.keep = keep }

  deinit {
    free.withLock { free in
      for block in free.small + free.large { block.deallocate() }
    }
  }

  /// Pooled slabs that somebody holds, for tests.
  package var live: Int { liveSlabs.load(ordering: .relaxed) }

  /// A slab for `count` bytes that came at once; `streaming` says that the body has filled one already.
  package func slab(for count: Int, streaming: Bool) -> Slab {
    if !streaming && count <= Self.exactLimit { return Slab(capacity: max(count, 64)) }
    let size = streaming ? Self.largeSize : Self.smallSize
    let block = free.withLock { free in streaming ? free.large.popLast() : free.small.popLast() }
    liveSlabs.wrappingAdd(1, ordering: .relaxed)
    return Slab(
      base: block ?? UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096), capacity: size,
      pool: self)
  }

  func giveBack(_ block: UnsafeMutableRawPointer, _ size: Int) {
    liveSlabs.wrappingSubtract(1, ordering: .relaxed)
    let kept = free.withLock { free in
      if size == Self.largeSize {
        guard free.large.count < keep else { return false }
        free.large.append(block)
      } else {
        guard free.small.count < keep else { return false }
        free.small.append(block)
      }
      return true
    }
    if !kept { block.deallocate() }
  }
}
