import Penstock
import PenstockTesting

enum Demo {
  static let gibibyte: Int64 = 1 << 30

  nonisolated static func run() async throws {
    let server = try ChunkServer()
    let client = Client()
    print("Penstock \(PenstockVersion.library) on \(PenstockVersion.components.joined(separator: " "))")
    print("local server at \(server.url)\n")

    try await streamLarge(client, server.url("/bytes/\(2 * gibibyte)"))
    try await cancelEarly(client, server)
    try await showEvents(client, server.url("/chunked/5000?size=2000"))

    try await Downloads.run(client, server)

    await client.shutdown()
    await server.stop()
    print("\npeak memory of client and server together: \(Memory.peakMebibytes) MiB")
  }

  /// 2 GiB through `events`, chunk by chunk, with the latest progress as a bar.
  nonisolated static func streamLarge(_ client: Client, _ url: String) async throws {
    print("1. streaming 2 GiB")
    var bar = Bar()
    var check = 0
    for try await event in client.events(.get(url)) {
      switch event {
      case .body(let chunk): check &+= Int(chunk[chunk.startIndex])
      case .progress(let progress): bar.draw(progress)
      case .completed(let summary):
        let seconds = summary.duration / .seconds(1)
        bar.end()
        print(
          "   \(summary.decoded) bytes in \(Bar.rounded(seconds)) s: "
            + "\(Bar.rounded(Double(summary.decoded) / seconds / 1e9)) GB/s; "
            + "first byte after \(summary.facts.timings.firstByte ?? .zero)\n")
      default: break
      }
    }
  }

  /// Takes three chunks of an endless body and leaves the loop: that ends the exchange.
  nonisolated static func cancelEarly(_ client: Client, _ server: ChunkServer) async throws {
    print("2. leaving an endless body after three chunks")
    var taken = 0
    let response = try await client.send(.get(server.url("/bytes/\(1000 * gibibyte)")))
    for try await chunk in response.body {
      taken += 1
      print("   chunk \(taken): \(chunk.count) bytes")
      if taken == 3 { break }
    }
    let left = ContinuousClock.now
    while client.gauges.running > 0 { await Task.yield() }
    print("   the exchange had ended \(ContinuousClock.now - left) after the loop was left\n")
  }

  /// Every event of a small exchange.
  nonisolated static func showEvents(_ client: Client, _ url: String) async throws {
    print("3. the events of a small exchange")
    for try await event in client.events(.get(url)) {
      switch event {
      case .informational(let head): print("   informational \(head.status)")
      case .redirect(let hop): print("   redirect \(hop.status) to \(hop.to)")
      case .retry(let retry): print("   retry \(retry.number): \(retry.reason)")
      case .uploadProgress(let progress): print("   upload \(progress.sent)")
      case .head(let head):
        print("   head \(head.status), \(head.headers.count) fields, HTTP/\(head.version)")
      case .body(let chunk): print("   body \(chunk.count)")
      case .progress(let progress): print("   progress \(progress.received)")
      case .trailers(let fields): print("   trailers \(fields.count)")
      case .completed(let summary):
        print(
          "   completed: \(summary.received) bytes, connection reused: \(summary.facts.connection.reused)")
      }
    }
  }
}
