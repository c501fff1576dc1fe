/// One block of memory that body bytes are gathered in.
///
/// The loop thread appends at `used`; readers hold slices of what lies before it, so both never touch one
/// byte. The block goes back to its pool with the last slice.
@usableFromInline
package final class Slab: @unchecked Sendable {
  // Sendable: `used` belongs to the one writer; readers see only ranges handed over under a lock.
  @usableFromInline let base: UnsafeMutableRawPointer
  package let capacity: Int
  @exclusivity(unchecked) package private(set) var used = 0
  private let pool: SlabPool?

  init(base: UnsafeMutableRawPointer, capacity: Int, pool: SlabPool?) {
    self.base = base
    self.capacity = capacity
    self.pool = pool
  }

  /// A slab of its own, outside any pool.
  package convenience init(capacity: Int) {
    self.init(
      base: UnsafeMutableRawPointer.allocate(byteCount: max(1, capacity), alignment: 16), capacity: capacity,
      pool: nil)
  }

  deinit {
    if let pool { pool.giveBack(base, capacity) } else { base.deallocate() }
  }

  package var room: Int { capacity - used }

  /// Whether so many bytes are to go in here, or some of them: what is left of a block for one small body isn't
  /// worth a cut.
  func takes(_ count: Int) -> Bool { capacity > SlabPool.exactLimit ? room > 0 : room >= count }

  /// Copies as much as fits and says how much that was.
  package func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    let count = min(bytes.count, room)
    if count > 0, let source = bytes.baseAddress {
      (base + used).copyMemory(from: source, byteCount: count)
      used += count
    }
    return count
  }

  /// The free tail, for code that writes into it and then calls `commit`.
  package var tail: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base + used, count: room)
  }

  /// Counts bytes that were written into `tail`.
  package func commit(_ count: Int) { used = min(capacity, used + max(0, count)) }
}
