import CurlTransport
import Penstock
import PenstockTesting
import StreamCore
import Testing

/// What a call costs the loop, in turns: each is one wait, and a system call at least.
@Suite(.timeLimit(.minutes(1)), .serialized) struct LoopTurnTests {
  private static let hops = 19

  /// `/hop/N` leads to `/hop/N-1` with a cookie; all else is answered with the cookies that came.
  private static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      let parts = request.target.split(separator: "/")
      guard parts.first == "hop", let number = Int(parts[1]), number > 0 else {
        return [.response(body: request.values(of: "Cookie").joined(separator: "|"))]
      }
      let fields = [("Location", "/hop/\(number - 1)"), ("Set-Cookie", "c\(number)=\(number); Path=/")]
      return [.response(status: 302, fields: fields, body: "moved")]
    }
  }

  private func client() -> (Client, CurlTransport) {
    var settings = CurlTransport.Configuration()
    settings.loops = 1
    let transport = CurlTransport(settings)
    var configuration = ClientConfiguration()
    configuration.cookies = CookieJar()
    configuration.redirects.limit = Self.hops
    return (Client(transport: transport, configuration: configuration), transport)
  }

  /// The fewest turns of some rounds: how the kernel cuts what comes may add some to any.
  private func fewest(
    _ transport: CurlTransport, _ round: () async throws -> Void
  ) async throws -> (turns: Int, wakeUps: Int) {
    var best = (turns: Int.max, wakeUps: Int.max)
    for _ in 0..<10 {
      let before = transport.loopCounts
      try await round()
      let after = transport.loopCounts
      best.turns = min(best.turns, after.turns - before.turns)
      best.wakeUps = min(best.wakeUps, after.wakeUps - before.wakeUps)
    }
    return best
  }

  private func measure(
    _ client: Client, _ transport: CurlTransport, _ url: String
  ) async throws -> [(turns: Int, wakeUps: Int)] {
    let plain = try await fewest(transport) {
      for _ in 0...Self.hops { _ = try await client.text(.get(url + "/plain")) }
    }
    let chain = try await fewest(transport) {
      let response = try await client.send(.get(url + "/hop/\(Self.hops)"))
      #expect(response.history.count == Self.hops)
      _ = try await response.body.drain()
    }
    return [plain, chain]
  }

  @Test(arguments: [false, true])
  func `redirects with cookies cost no more than one turn a hop beside that of the request`(
    onLoop: Bool
  ) async throws {
    let server = try Self.server()
    let (client, transport) = client()
    // All cookies are there, and the connection.
    let all = (1...Self.hops).reversed().map { "c\($0)=\($0)" }
    let cookies = try await client.text(.get(server.url("/hop/\(Self.hops)")))
    #expect(Set(cookies.split(separator: ";").map { $0.drop { $0 == " " } }) == Set(all.map { $0[...] }))
    let results =
      onLoop
      ? try await client.onLoop { try await self.measure(client, transport, server.url) }
      : try await measure(client, transport, server.url)
    let (plain, chain) = (results[0], results[1])
    // A request alone costs a turn; a plain one less where its answer is there before the loop has looked.
    #expect(chain.turns <= max(plain.turns, Self.hops + 1) + Self.hops)
    // No wake-up where the task runs on the loop itself, else one a request at most.
    #expect(chain.wakeUps <= (onLoop ? 0 : Self.hops + 1))
    #expect(server.connectionCount == 1)
    await transport.shutdown(immediately: true)
    await server.stop()
  }
}
