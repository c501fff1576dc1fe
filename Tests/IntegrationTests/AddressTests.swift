import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct AddressTests {
  @Test func `what is encoded stays so, only what is illegal is encoded`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      try await client.expect("ok", from: .get(server.url + "/a%2Fb/%25?x=%20+|\"#fragment"))
      try await client.expect("ok", from: .get(server.url + "/a/../b/./c"))
      try await client.expect("ok", from: .get(server.url + "/ä ö?ü=1"))
      try await client.expect("ok", from: .get(server.url + "?q=1"))
      #expect(
        server.requests.map(\.target) == [
          "/a%2Fb/%25?x=%20+%7C%22", "/b/c", "/%c3%a4%20%c3%b6?%c3%bc=1", "/?q=1",
        ])
      #expect(server.requests.first?.value(of: "Host") == "127.0.0.1:\(server.port)")
    }
    await server.stop()
  }

  @Test func `a Unix socket is reached by a path with spaces, with the URL's host`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a socket with spaces")
    let server = try ScriptedServer(
      script: .response(body: "ok"), options: ServerOptions(address: .unixSocket(path: path)))
    try await TestClient.with { client in
      var request = Request.get("http://service.internal/x")
      request.addressing = Addressing()
      request.addressing?.unixSocket = path
      try await client.expect("ok", from: request)
      try await client.expect("ok", from: request)
      #expect(server.requests.first?.value(of: "Host") == "service.internal")
      #expect(server.connectionCount == 1)
    }
    await server.stop()
  }

  @Test func `an address in place of a host`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      var request = Request.get("http://no.such.host.test:\(server.port)/x")
      request.addressing = Addressing()
      request.addressing?.overrides = ["no.such.host.test:\(server.port):127.0.0.1"]
      try await client.expect("ok", from: request)
      #expect(server.requests.first?.value(of: "Host") == "no.such.host.test:\(server.port)")
    }
    await server.stop()
  }

  @Test func `IPv6`() async throws {
    let server = try ScriptedServer(
      script: .response(body: "ok"), options: ServerOptions(address: .loopbackIPv6))
    try await TestClient.with { client in
      let response = try await client.send(.get(server.url))
      #expect(response.facts.connection.remote == "[::1]:\(server.port)")
      _ = try await response.body.drain()
    }
    await server.stop()
  }

  @Test func `a port where nobody listens`() async throws {
    let nobody = try RefusingPort()
    try await TestClient.with { client in
      let error = await failure { try await client.send(.get(nobody.url)) }
      #expect(error?.kind == .connectFailed)
      #expect(error?.phase == .connect)
    }
  }
}
