import BenchOptions
import BenchReport
import Penstock

/// A batch over 99 hosts, and one over 100 of which one takes two seconds for each reply: how long do the 99 take?
struct ManyHosts: Sendable {
  private static let quick = 99
  let options: Options

  @concurrent func run() async throws {
    let port = options.url.drop { $0 != ":" }.dropFirst().drop { $0 != ":" }.dropFirst().prefix { $0 != "/" }
    let path = options.url.split(separator: "/", maxSplits: 2).last ?? ""
    let names = (0..<Self.quick).map { "host-\($0).test" }
    var configuration = options.configuration(parallel: options.parallel)
    configuration.addressing.overrides = names.map { "\($0):\(port):127.0.0.1" }
    let client = Client(configuration: configuration)
    let urls = names.map { "http://\($0):\(port)/\(path)" }
    _ = try await fetch(client, urls, slow: nil, requests: 20 * Self.quick)
    bench_begin()
    try await fetch(client, urls, slow: options.slow, requests: options.requests)
    bench_end()
    bench_print(options.mode, Int64(options.requests), 0)
    await client.shutdown(.immediate)
  }

  /// Ends with the last answer of a quick host; `requests` is how many these are to give.
  private func fetch(_ client: Client, _ urls: [String], slow: String?, requests: Int) async throws {
    let round = urls.map { Request.get($0) } + (slow.map { [.get($0)] } ?? [])
    let inputs = (0...).lazy.map { round[$0 % round.count] }
    var left = requests
    for try await result in client.batch(inputs, limits: BatchLimits(total: options.parallel)) {
      guard result.input.url != slow else { continue }
      guard try result.value.status == 200 else { throw UnexpectedAnswer(what: "\(result)") }
      left -= 1
      if left == 0 { return }
    }
  }
}
