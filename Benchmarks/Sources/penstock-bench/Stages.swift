import BenchOptions
import BenchReport
import Penstock

/// GETs that a transport in memory answers at once: what the stages of a call cost alone, without a loop or a socket,
/// whose own share varies by more than that.
struct Stages: Sendable {
  let options: Options

  @concurrent func run() async throws {
    let client = Client(transport: AnsweringTransport(), configuration: options.configuration(parallel: 1))
    _ = try await fetch(client, requests: 1000)
    bench_begin()
    let bytes = try await fetch(client, requests: options.requests)
    bench_end()
    bench_print(options.mode, Int64(options.requests), Int64(bytes))
  }

  private func fetch(_ client: Client, requests: Int) async throws -> Int {
    let request = options.request
    var bytes = 0
    for _ in 0..<requests {
      bytes += try await client.send(request).checked().body.collect(upTo: .mebibytes(1)).count
    }
    return bytes
  }
}

/// Answers every request with a head and no body.
private struct AnsweringTransport: Transport {
  private static let head = ResponseHead(
    status: 200, headers: ["Content-Type": "application/json", "Content-Length": "0"])

  func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
    let (exchange, feed) = Exchange.fed(url: request.url)
    feed.head(Self.head)
    feed.finish()
    return exchange
  }
}
