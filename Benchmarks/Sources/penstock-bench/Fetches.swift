import BenchOptions
import BenchReport
import Penstock

/// Many small GETs, collected: a fixed number at once, on the loop or hopping between it and the pool.
struct Fetches: Sendable {
  let options: Options
  let parallel: Int

  @concurrent func run() async throws {
    let client = options.client(parallel: parallel)
    if options.isOnLoop {
      try await client.onLoop { try await measure(client) }
    } else {
      try await measure(client)
    }
    await client.shutdown()
  }

  private func measure(_ client: Client) async throws {
    _ = try await fetch(client, requests: parallel == 1 ? 100 : 4 * parallel)
    bench_begin()
    let bytes = try await fetch(client, requests: options.requests)
    bench_end()
    bench_print(options.mode, Int64(options.requests), Int64(bytes))
  }

  private func fetch(_ client: Client, requests: Int) async throws -> Int {
    if parallel == 1 { return try await fetchInTurn(client, requests: requests) }
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<parallel {
        let share = requests / parallel + (worker < requests % parallel ? 1 : 0)
        group.addTask { try await fetchInTurn(client, requests: share) }
      }
      return try await group.reduce(0, +)
    }
  }

  private func fetchInTurn(_ client: Client, requests: Int) async throws -> Int {
    var bytes = 0
    let segment = options.segment
    let request = options.request
    for _ in 0..<requests {
      if options.isTyped {
        bytes += try await client.path(segment).get().value(as: SmallValue.self).name.utf8.count
        continue
      }
      let response = try await client.send(request).checked()
      if options.isStreamed {
        for try await chunk in response.body { bytes += chunk.count }
      } else {
        bytes += try await response.body.collect(upTo: .mebibytes(1)).count
      }
    }
    return bytes
  }
}

/// What stands in the small JSON body.
private struct SmallValue: Decodable, Sendable {
  let id: Int
  let name: String
  let tags: [String]
}
