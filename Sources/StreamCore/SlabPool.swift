import Synchronization

/// Keeps returned slabs of two sizes for the next stream, and blocks for small bodies in steps.
package final class SlabPool: Sendable {
  private struct Free: @unchecked Sendable {
    // Sendable: the blocks in here belong to nobody else, and the mutex guards the lists.
    var small: [UnsafeMutableRawPointer] = []
    var large: [UnsafeMutableRawPointer] = []
    /// For small bodies, by size.
    var exact = [[UnsafeMutableRawPointer]](
      repeating: [], count: SlabPool.exactLimit / SlabPool.exactStep)
    var exactCount = 0
  }

  package static let exactLimit = 4 << 10
  /// Blocks for small bodies come in steps of so many bytes. They are kept since the loop allocates what readers free,
  /// and the allocator makes both wait for each other (decision 46); below a step it doesn't.
  package static let exactStep = 256
  private static let keptExact = 128
  package static let smallSize = 64 << 10
  package static let largeSize = 128 << 10

  private let free = Mutex(Free())
  private let liveSlabs = Atomic<Int>(0)
  /// How many idle blocks of each size are kept.
  private let keep: Int

  package init(keep: Int = 32) { self.keep = keep }

  deinit {
    free.withLock { free in
      for block in free.small + free.large + free.exact.joined() { block.deallocate() }
    }
  }

  /// Pooled slabs that somebody holds, for tests.
  package var live: Int { liveSlabs.load(ordering: .relaxed) }

  /// A slab for `count` bytes that came at once; `streaming` says that the body has filled one already.
  package func slab(for count: Int, streaming: Bool) -> Slab {
    if !streaming && count <= Self.exactLimit { return exactSlab(for: count) }
    let size = streaming ? Self.largeSize : Self.smallSize
    let block = free.withLock { free in streaming ? free.large.popLast() : free.small.popLast() }
    liveSlabs.wrappingAdd(1, ordering: .relaxed)
    return Slab(
      base: block ?? UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096), capacity: size,
      pool: self)
  }

  private func exactSlab(for count: Int) -> Slab {
    guard count > Self.exactStep / 2 else { return Slab(capacity: max(count, 64)) }
    let step = (count - 1) / Self.exactStep
    let size = (step + 1) * Self.exactStep
    let block = free.withLock { free in
      guard let block = free.exact[step].popLast() else { return UnsafeMutableRawPointer?.none }
      free.exactCount -= 1
      return block
    }
    return Slab(
      base: block ?? UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16), capacity: size,
      pool: self)
  }

  private func giveBackExact(_ block: UnsafeMutableRawPointer, _ size: Int) {
    let isKept = free.withLock { free in
      guard free.exactCount < Self.keptExact else { return false }
      free.exactCount += 1
      free.exact[size / Self.exactStep - 1].append(block)
      return true
    }
    if !isKept { block.deallocate() }
  }

  func giveBack(_ block: UnsafeMutableRawPointer, _ size: Int) {
    if size <= Self.exactLimit { return giveBackExact(block, size) }
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
