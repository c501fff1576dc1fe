import BenchOptions
import BenchReport
import Penstock

/// Takes the first chunk of a large body, then reads nothing: how much memory piles up?
struct StoppedReader: Sendable {
  let options: Options

  @concurrent func run() async throws {
    let client = options.client(parallel: 1)
    // The loop, its thread and libcurl are there before the measurement starts.
    try await client.onLoop {}
    let before = bench_resident_kib()
    bench_begin()
    var body = try await client.send(.get(options.url)).checked().body.makeAsyncIterator()
    let first = try await body.next()
    try await Task.sleep(for: .seconds(options.hold))
    bench_end()
    bench_note("kib_above_idle", Double(bench_peak_resident_kib() - before))
    bench_print(options.mode, 1, Int64(first?.count ?? 0))
    _ = consume body
    await client.shutdown(.immediate)
  }
}
