/// Gathers chunks into large pieces of work for the disk: at least `size` bytes, and ending at a whole page of
/// the file. Small chunks are copied together, so that a drip of bytes holds no more memory than it has.
struct WriteGathering: Sendable {
  /// Bytes for one place of the file.
  struct Batch: Sendable {
    var chunks: [BodyChunk] = []
    var count = 0
    var offset: Int64 = 0
  }

  enum Action: Sendable {
    case wait
    case write(Batch)
  }

  static let page = 4096
  /// Chunks below this are copied.
  private static let small = 16 << 10
  private static let slabSize = 64 << 10

  private let size: Int
  private var batch = Batch()
  /// What the last chunk of the batch lies in, while small ones may follow it there.
  private var slab: Slab?

  init(size: Int, offset: Int64 = 0) {
    self.size = size
    batch.offset = offset
  }

  mutating func add(_ chunk: BodyChunk) -> Action {
    take(chunk)
    return batch.count >= size ? .write(cut()) : .wait
  }

  /// What is left, for the end.
  mutating func rest() -> Action {
    guard batch.count > 0 else { return .wait }
    defer {
      slab = nil
      batch = Batch(offset: batch.offset + Int64(batch.count))
    }
    return .write(batch)
  }

  private mutating func take(_ chunk: BodyChunk) {
    batch.count += chunk.count
    if chunk.count >= Self.small {
      slab = nil
      batch.chunks.append(chunk)
      return
    }
    chunk.withUnsafeBytes { bytes in
      var bytes = bytes
      while !bytes.isEmpty { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(copy(bytes))) }
    }
  }

  private mutating func copy(_ bytes: UnsafeRawBufferPointer) -> Int {
    if let slab, slab.room > 0, let last = batch.chunks.last {
      let count = slab.append(bytes)
      batch.chunks[batch.chunks.count - 1] = BodyChunk(slab: slab, range: last.startIndex..<slab.used)
      return count
    }
    let fresh = Slab(capacity: Self.slabSize)
    let count = fresh.append(bytes)
    batch.chunks.append(BodyChunk(slab: fresh, range: 0..<count))
    slab = fresh
    return count
  }

  /// Takes whole pages out; what is left stays for the next write.
  private mutating func cut() -> Batch {
    var full = batch
    var left = Int((batch.offset + Int64(batch.count)) % Int64(Self.page))
    var kept: [BodyChunk] = []
    if left >= full.count { left = 0 }
    full.count -= left
    while left > 0, let last = full.chunks.popLast() {
      if last.count > left {
        let middle = last.endIndex - left
        full.chunks.append(last[last.startIndex..<middle])
        kept.append(last[middle..<last.endIndex])
        left = 0
      } else {
        kept.append(last)
        left -= last.count
      }
    }
    slab = nil
    batch = Batch(offset: full.offset + Int64(full.count))
    for chunk in kept.reversed() { take(chunk) }
    return full
  }
}
