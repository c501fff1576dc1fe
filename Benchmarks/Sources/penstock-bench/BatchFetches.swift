import BenchOptions
import BenchReport
import Penstock

/// Many GETs through `client.batch`, collected: a fixed number at once.
struct BatchFetches: Sendable {
  let options: Options

  @concurrent func run() async throws {
    let client = options.client(parallel: options.parallel)
    _ = try await fetch(client, requests: 4 * options.parallel)
    bench_begin()
    let bytes = try await fetch(client, requests: options.requests)
    bench_end()
    bench_print(options.mode, Int64(options.requests), Int64(bytes))
    await client.shutdown()
  }

  private func fetch(_ client: Client, requests: Int) async throws -> Int {
    let inputs = repeatElement(Request.get(options.url), count: requests)
    let limits = BatchLimits(total: options.parallel, perHost: options.parallel)
    var bytes = 0
    var chosen = BatchOptions()
    if options.isOnLoop { chosen.staysOnLoop = true }
    for try await result in client.batch(inputs, limits: limits, options: chosen) {
      let response = try result.value
      guard response.status == 200 else { throw UnexpectedAnswer(what: "status \(response.status)") }
      bytes += response.body.count
    }
    return bytes
  }
}
