import StreamCore
import Testing

@Suite struct BodyChunkTests {
  @Test func aChunkHasTheBytesItWasMadeOf() {
    #expect(Array(BodyChunk([1, 2, 3])) == [1, 2, 3])
    #expect(Array(BodyChunk(stride(from: UInt8(1), to: 4, by: 1))) == [1, 2, 3])
    #expect(BodyChunk([]).isEmpty)
    #expect(BodyChunk.empty == BodyChunk([]))
  }

  @Test func aSliceSharesMemoryAndKeepsItsIndices() {
    let chunk = BodyChunk([10, 11, 12, 13, 14])
    let slice = chunk[1..<4]
    #expect(slice.startIndex == 1 && slice.endIndex == 4 && slice[1] == 11)
    #expect(Array(slice.dropFirst()) == [12, 13])
    #expect(Array(slice.prefix(1)) == [11])
    #expect(slice[2..<2].isEmpty)
    let base = chunk.withUnsafeBytes { $0.baseAddress }
    #expect(slice.withUnsafeBytes { $0.baseAddress } == base.map { $0 + 1 })
  }

  @Test func allWaysOfReadingAgree() {
    let slice = BodyChunk([1, 2, 3, 4])[1..<3]
    #expect(slice.withUnsafeBytes { Array($0) } == [2, 3])
    #expect(slice.withSpan { span in (0..<span.count).map { span[$0] } } == [2, 3])
    #expect(slice.withContiguousStorageIfAvailable { Array($0) } == [2, 3])
    var array: [UInt8] = [9]
    slice.append(to: &array)
    #expect(array == [9, 2, 3])
  }

  @Test func equalityIsOfBytes() {
    #expect(BodyChunk([1, 2, 3])[1..<3] == BodyChunk([2, 3]))
    #expect(BodyChunk([1]) != BodyChunk([1, 2]))
    #expect(BodyChunk([1]) != BodyChunk([2]))
  }

  @Test func theDescriptionShowsNoContent() {
    #expect(BodyChunk(Array("s3cret".utf8)).description == "BodyChunk(6 bytes)")
  }

  @Test func aSmallPieceOfALargeBlockIsCopiedOut() {
    let pool = SlabPool()
    var kept: [BodyChunk] = []
    do {
      let slab = pool.slab(for: 60_000, streaming: false)
      _ = [UInt8](repeating: 7, count: 5000).withUnsafeBytes { slab.append($0) }
      kept.append(BodyChunk(slab: slab, range: 0..<4096).compacted())
    }
    #expect(pool.live == 0)
    #expect(kept[0].count == 4096 && kept[0].allSatisfy { $0 == 7 })
  }

  @Test func aLargePieceStaysInItsBlock() {
    let pool = SlabPool()
    do {
      let slab = pool.slab(for: 60_000, streaming: false)
      _ = [UInt8](repeating: 7, count: 5000).withUnsafeBytes { slab.append($0) }
      let chunk = BodyChunk(slab: slab, range: 0..<4097).compacted()
      #expect(pool.live == 1)
      #expect(chunk.count == 4097)
    }
    #expect(pool.live == 0)
  }
}

@Suite struct SlabPoolTests {
  @Test func aSlabTakesWhatFits() {
    let slab = Slab(capacity: 4)
    #expect([UInt8]([1, 2, 3]).withUnsafeBytes { slab.append($0) } == 3)
    #expect([UInt8]([4, 5, 6]).withUnsafeBytes { slab.append($0) } == 1)
    #expect([UInt8]().withUnsafeBytes { slab.append($0) } == 0)
    #expect(slab.room == 0 && slab.used == 4 && slab.tail.isEmpty)
    #expect(Array(BodyChunk(slab: slab, range: 0..<4)) == [1, 2, 3, 4])
  }

  @Test func committingIsClamped() {
    let slab = Slab(capacity: 4)
    slab.commit(-1)
    #expect(slab.used == 0)
    slab.commit(100)
    #expect(slab.used == 4)
  }

  @Test func sizesGoByWhatCame() {
    let pool = SlabPool()
    #expect(pool.slab(for: 10, streaming: false).capacity == 64)
    #expect(pool.slab(for: 4096, streaming: false).capacity == 4096)
    #expect(pool.live == 0)
    #expect(pool.slab(for: 4097, streaming: false).capacity == SlabPool.smallSize)
    #expect(pool.slab(for: 10, streaming: true).capacity == SlabPool.largeSize)
    #expect(pool.live == 0)
  }

  @Test func smallBodiesGetBlocksInStepsThatAreUsedAgain() {
    let pool = SlabPool()
    #expect(pool.slab(for: 128, streaming: false).capacity == 128)
    #expect(pool.slab(for: 129, streaming: false).capacity == 256)
    #expect(pool.slab(for: 257, streaming: false).capacity == 512)
    var first: UnsafeMutableRawPointer?
    do {
      let slab = pool.slab(for: 1000, streaming: false)
      first = slab.tail.baseAddress
      slab.commit(1000)
    }
    let other = pool.slab(for: 600, streaming: false)
    #expect(other.capacity == 768 && other.tail.baseAddress != first)
    let second = pool.slab(for: 800, streaming: false)
    #expect(second.capacity == 1024 && second.used == 0 && second.tail.baseAddress == first)
    #expect(pool.live == 0)
  }

  @Test func aReturnedBlockIsUsedAgainEmpty() {
    let pool = SlabPool(keep: 1)
    var first: UnsafeMutableRawPointer?
    do {
      let slab = pool.slab(for: 10, streaming: true)
      slab.commit(100)
      first = slab.tail.baseAddress.map { $0 - 100 }
    }
    let second = pool.slab(for: 10, streaming: true)
    #expect(second.used == 0)
    #expect(second.tail.baseAddress == first)
  }

  @Test func aBlockOutlivesItsPool() {
    var chunk = BodyChunk.empty
    do {
      let slab = SlabPool().slab(for: 9000, streaming: false)
      _ = [UInt8](repeating: 5, count: 9000).withUnsafeBytes { slab.append($0) }
      chunk = BodyChunk(slab: slab, range: 0..<9000)
    }
    #expect(chunk.count == 9000 && chunk.last == 5)
  }

  @Test func manyTasksAtOnceGetBlocksOfTheirOwn() async {
    let pool = SlabPool(keep: 4)
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<500 {
            let mark = UInt8(truncatingIfNeeded: task &* 31 &+ round)
            let slab = pool.slab(for: 9000, streaming: round % 2 == 0)
            _ = [UInt8](repeating: mark, count: 256).withUnsafeBytes { slab.append($0) }
            let chunk = BodyChunk(slab: slab, range: 0..<256)
            await Task.yield()
            if !chunk.allSatisfy({ $0 == mark }) { return false }
          }
          return true
        }
      }
      for await whole in group { #expect(whole) }
    }
    #expect(pool.live == 0)
  }
}
