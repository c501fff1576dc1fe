import Penstock
import PenstockTesting
import Testing

/// Where a batch reads its inputs.
@Suite(.timeLimit(.minutes(1))) struct BatchIsolationTests {
  private func echo() throws -> ScriptedServer {
    try ScriptedServer(respond: { request in [.response(body: request.target)] })
  }

  /// Requests that may be made on one actor alone, as those of a closure that belongs to it.
  private struct Bound: Sequence, IteratorProtocol, Sendable {
    let actor: any Actor
    let server: ScriptedServer
    var left: Int

    mutating func next() -> Request? {
      guard left > 0 else { return nil }
      actor.preconditionIsolated()
      left -= 1
      return .get(server.url("/\(left)"))
    }
  }

  @Test @MainActor func `a sequence of the main actor is read there`() async throws {
    let server = try echo()
    let client = Client()
    var count = 0
    let requests = Bound(actor: MainActor.shared, server: server, left: 200)
    for try await result in client.batch(requests) { count += try result.value.body.isEmpty ? 0 : 1 }
    #expect(count == 200)
    for try await result in client.batch(requests, transform: { try await $0.body.drain() }) {
      count += try result.value > 0 ? 1 : 0
    }
    #expect(count == 400)
    await client.shutdown()
    await server.stop()
  }

  private actor Reader {
    func read(_ client: Client, _ server: ScriptedServer) async throws -> Int {
      var count = 0
      let batch = client.batch(Bound(actor: self, server: server, left: 100), limits: .init(total: 8))
      for try await result in batch { count += try result.value.body.isEmpty ? 0 : 1 }
      return count
    }
  }

  @Test func `a sequence of an actor is read there`() async throws {
    let server = try echo()
    try await TestClient.with { client in
      let count = try await Reader().read(client, server)
      #expect(count == 100)
    }
    await server.stop()
  }

  @Test func `requests are made of inputs of any type, and a failure is the input's`() async throws {
    struct NoURL: Error {}
    let server = try echo()
    try await TestClient.with { client in
      var bodies: [Int: String] = [:]
      var failed: [Int] = []
      let batch = client.batch(0..<20) { number in
        if number == 7 { throw NoURL() }
        return .get(server.url("/\(number)"))
      }
      for try await result in batch {
        switch result.result {
        case .success(let response): bodies[result.input] = String(decoding: response.body, as: UTF8.self)
        case .failure(let error):
          failed.append(result.input)
          #expect(error.kind == .transformFailed)
        }
      }
      #expect(failed == [7])
      #expect(bodies.count == 19)
      #expect(bodies[3] == "/3")
    }
    await server.stop()
  }
}
