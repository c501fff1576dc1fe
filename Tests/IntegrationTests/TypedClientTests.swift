import Glibc
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// The typed client over real sockets; what it does by itself is tested over mocks.
@Suite(.timeLimit(.minutes(1))) struct TypedClientTests {
  private struct Item: Codable, Sendable, Equatable {
    var id: Int
    var name: String
  }

  @Test func `a typed call goes out as it is written and comes back as a value`() async throws {
    let server = try ScriptedServer(
      script: .response(fields: [("X-Next", "2")], body: #"{"id":1,"name":"ü"}"#))
    let client = Client(baseURL: server.url + "/api/")
    let response = try await client.path("items", "a b", 7).query("q", ["x", "y"]).post(
      Item(id: 1, name: "ü")
    )
    .response(as: Item.self)
    #expect(response.value == Item(id: 1, name: "ü") && response.raw.headerInt("x-next") == 2)
    #expect(response.timings.firstByte != nil)
    let request = try #require(server.requests.first)
    #expect(request.method == "POST" && request.target == "/api/items/a%20b/7?q=x&q=y")
    #expect(request.value(of: "Content-Type") == "application/json")
    #expect(request.value(of: "Accept") == "application/json")
    #expect(request.text.contains("ü"))
    await client.shutdown()
    await server.stop()
  }

  @Test func `a failed answer keeps its body, and its connection`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .response(status: 503, body: #"{"reason":"down for a moment"}"#), .expectRequest,
      .response(body: "[]"),
    ])
    let client = Client(baseURL: server.url)
    do {
      _ = try await client.path("x").value(as: [Item].self)
      Issue.record("no error")
    } catch {
      #expect(error.kind == .httpStatus && error.status == 503 && error.userMessage == "down for a moment")
    }
    #expect(try await client.path("x").value(as: [Item].self).isEmpty)
    #expect(server.requests.allSatisfy { $0.connection == 0 })
    await client.shutdown()
    await server.stop()
  }

  @Test func `an observed call tells its bytes and its end`() async throws {
    let server = try ScriptedServer(script: .response(body: "12345"))
    let metrics = MetricsObserver()
    var configuration = ClientConfiguration()
    configuration.observers = [metrics]
    let client = Client(baseURL: server.url, configuration: configuration)
    #expect(try await client.path("x").post("body").string() == "12345")
    #expect(metrics.snapshot.completed == 1 && metrics.snapshot.received == 5)
    await client.shutdown()
    await server.stop()
  }

  @Test func `real exchanges are recorded and played back`() async throws {
    let folder = try TestFolder()
    let path = folder("items.jsonl")
    let server = try ScriptedServer(script: .response(body: #"{"id":1,"name":"a"}"#))
    let client = Client(configuration: ClientConfiguration()) { Recorder(recording: $0, to: path) }
    let url = server.url + "/x"
    #expect(try await client.absolute(url: url).value(as: Item.self).id == 1)
    await client.shutdown()
    await server.stop()
    // The line is written just behind the end of the body.
    #expect(try await eventually { try !FileText.read(path).isEmpty })
    let player = Client(transport: try Recorder.playing(path))
    for _ in 0..<2 { #expect(try await player.absolute(url: url).value(as: Item.self).name == "a") }
  }
}

private enum FileText {
  static func read(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var block = [UInt8](repeating: 0, count: 1)
    return fread(&block, 1, 1, file) == 1 ? block : []
  }
}
