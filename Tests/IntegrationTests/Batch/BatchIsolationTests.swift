import Penstock
import PenstockTesting
import Testing

/// Where a batch reads its inputs.
@Suite(.timeLimit(.minutes(1))) struct BatchIsolationTests {
  private func echo() throws -> ScriptedServer {
    try ScriptedServer(respond: { request in [.response(body: request.target)] })
  }

  @Test @MainActor func `lazy inputs of the main actor are read there`() async throws {
    let server = try echo()
    let client = Client()
    var made = 0
    var count = 0
    let urls = (0..<200).map { server.url("/\($0)") }
    let requests = urls.lazy.map { url in
      MainActor.assertIsolated()
      made += 1
      return Request.get(url)
    }
    for try await result in client.batch(requests) { count += try result.value.body.isEmpty ? 0 : 1 }
    #expect(count == 200)
    #expect(made == 200)
    for try await result in client.batch(
      urls.lazy.map { .get($0) }, transform: { try await $0.body.drain() })
    {
      count += try result.value > 0 ? 1 : 0
    }
    #expect(count == 400)
    await client.shutdown()
    await server.stop()
  }

  private actor Reader {
    let server: ScriptedServer
    var made = 0

    init(_ server: ScriptedServer) { self.server = server }

    func read(_ client: Client) async throws -> Int {
      var count = 0
      let requests = (0..<100).lazy.map { number in
        self.made += 1
        return Request.get(self.server.url("/\(number)"))
      }
      for try await result in client.batch(requests, limits: .init(total: 8)) {
        count += try result.value.body.isEmpty ? 0 : 1
      }
      return count
    }
  }

  @Test func `lazy inputs of an actor are read there`() async throws {
    let server = try echo()
    try await TestClient.with { client in
      let reader = Reader(server)
      #expect(try await reader.read(client) == 100)
      #expect(await reader.made == 100)
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
