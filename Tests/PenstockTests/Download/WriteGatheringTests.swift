import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct WriteGatheringTests {
  private static func content(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  }

  /// All batches for a content that comes in pieces.
  private static func batches(_ content: [UInt8], size: Int, piece: () -> Int) -> [WriteGathering.Batch] {
    var gathering = WriteGathering(size: size)
    var batches: [WriteGathering.Batch] = []
    var position = 0
    while position < content.count {
      let end = min(content.count, position + max(1, piece()))
      if case .write(let batch) = gathering.add(BodyChunk(content[position..<end])) { batches.append(batch) }
      position = end
    }
    if case .write(let batch) = gathering.rest() { batches.append(batch) }
    return batches
  }

  private static func check(_ batches: [WriteGathering.Batch], _ content: [UInt8], size: Int) {
    var written: [UInt8] = []
    for batch in batches {
      #expect(batch.offset == Int64(written.count))
      for chunk in batch.chunks { chunk.append(to: &written) }
      #expect(batch.count == written.count - Int(batch.offset))
    }
    #expect(written == content)
    for batch in batches.dropLast() {
      #expect((batch.offset + Int64(batch.count)) % Int64(WriteGathering.page) == 0)
      #expect(batch.count > size - WriteGathering.page)
    }
  }

  @Test(arguments: [1, 7, 1000, 1460, 4096, 16_384, 16_385, 65_536, 100_000, 700_000])
  func `pieces of any size become aligned writes`(piece: Int) {
    let size = 64 << 10
    let content = Self.content(size * 5 + 123)
    Self.check(Self.batches(content, size: size) { piece }, content, size: size)
  }

  @Test func `random pieces become aligned writes`() {
    var generator = SeededGenerator(seed: 9)
    for _ in 0..<15 {
      let size = [4096, 8192, 65_536].randomElement(using: &generator) ?? 4096
      let content = Self.content(Int.random(in: 0..<100_000, using: &generator))
      let limit = [2, 5000, 40_000].randomElement(using: &generator) ?? 2
      let batches = Self.batches(content, size: size) { Int.random(in: 1...limit, using: &generator) }
      Self.check(batches, content, size: size)
    }
  }

  @Test func `a drip of bytes makes few pieces`() {
    let content = Self.content(1 << 20)
    for batch in Self.batches(content, size: 1 << 20, piece: { 3 }) { #expect(batch.chunks.count <= 20) }
  }

  @Test func `nothing makes no write`() {
    #expect(Self.batches([], size: 4096) { 1 }.isEmpty)
    var gathering = WriteGathering(size: 4096)
    guard case .wait = gathering.add(.empty) else {
      Issue.record("an empty chunk is nothing to write")
      return
    }
  }
}
