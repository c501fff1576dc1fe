import BenchOptions
import BenchReport
import Penstock

/// Opens many streams whose server sends a head and a few bytes and then nothing: what does each cost? Each
/// has a task of its own that waits for the next chunk.
struct Idle: Sendable {
  private static let warmUp = 8
  let options: Options

  @concurrent func run() async throws {
    let client = options.client(parallel: 1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (opened, open) = AsyncStream.makeStream(of: Void.self)
      var opening = opened.makeAsyncIterator()
      for _ in 0..<Self.warmUp { group.addTask { try await hold(client, open) } }
      for _ in 0..<Self.warmUp where await opening.next() == nil { try await group.next() }
      let before = bench_resident_kib()
      bench_begin()
      for _ in 0..<options.streams { group.addTask { try await hold(client, open) } }
      for _ in 0..<options.streams where await opening.next() == nil { try await group.next() }
      bench_end()
      let after = bench_resident_kib()
      bench_note("kib_per_stream", Double(after - before) / Double(options.streams))
      bench_print(options.mode, Int64(options.streams), 0)
      group.cancelAll()
    }
    await client.shutdown(.immediate)
  }

  private func hold(_ client: Client, _ open: AsyncStream<Void>.Continuation) async throws {
    var request = Request.get(options.url)
    request.isLongLived = true
    do {
      var body = try await client.send(request).checked().body.makeAsyncIterator()
      guard try await body.next() != nil else { throw UnexpectedAnswer(what: "an empty body") }
      open.yield()
      _ = try await body.next()
      throw UnexpectedAnswer(what: "a stream that ended by itself")
    } catch let error as HTTPError where error.kind == .cancelled {
      return
    } catch {
      // Whoever counts the open streams sees that there will be no more.
      open.finish()
      throw error
    }
  }
}
