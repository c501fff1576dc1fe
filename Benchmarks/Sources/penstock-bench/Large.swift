import BenchOptions
import BenchReport
import Penstock

/// Large bodies one after another, read chunk by chunk.
struct Large: Sendable {
  let options: Options

  @concurrent func run() async throws {
    let client = options.client(parallel: 1)
    var bytes = 0
    bench_begin()
    for _ in 0..<options.count {
      let response = try await client.send(.get(options.url)).checked()
      if options.isCollected {
        bytes += try await response.body.collect(upTo: .gibibytes(1)).count
      } else {
        for try await chunk in response.body { bytes += chunk.count }
      }
    }
    bench_end()
    bench_print(options.mode, Int64(options.count), Int64(bytes))
    await client.shutdown()
  }
}
