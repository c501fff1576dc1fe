import BenchOptions
import BenchReport
import Penstock

/// A PUT of known length out of one block of memory, against a peer that may not read for a while.
struct Upload: Sendable {
  let options: Options

  @concurrent func run() async throws {
    let client = options.client(parallel: 1)
    let body = RequestBody.stream(Blocks(bytes: options.bytes), length: Int64(options.bytes))
    bench_begin()
    let response = try await client.send(.put(options.url, body: body)).checked()
    _ = try await response.body.drain()
    bench_end()
    bench_print(options.mode, 1, Int64(options.bytes))
    await client.shutdown()
  }
}

/// So many bytes in blocks of 64 KiB that share their memory.
private struct Blocks: AsyncSequence, Sendable {
  typealias Element = BodyChunk
  let bytes: Int

  struct AsyncIterator: AsyncIteratorProtocol {
    let block = BodyChunk(repeatElement(UInt8(ascii: "x"), count: 64 << 10))
    var left: Int

    mutating func next() async -> BodyChunk? {
      guard left > 0 else { return nil }
      let count = Swift.min(left, block.count)
      left -= count
      return block[block.startIndex..<block.startIndex + count]
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: bytes) }
}
