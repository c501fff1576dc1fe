import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite struct RedirectTests {
  private static func server(_ status: Int, to location: String) throws -> ScriptedServer {
    try ScriptedServer { request in
      request.target == "/end"
        ? [.response(body: "end")]
        : [.response(status: status, fields: [("Location", location)], body: "moved")]
    }
  }

  @Test(arguments: [
    (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
    (308, "POST", "POST"), (301, "PUT", "PUT"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
    (302, "DELETE", "DELETE"), (303, "HEAD", "HEAD"),
  ])
  func `the method and body follow RFC 9110 and Fetch`(
    _ status: Int, _ before: String, _ after: String
  ) async throws {
    let server = try Self.server(status, to: "/end")
    try await TestClient.with { client in
      let body: RequestBody = before == "HEAD" ? .empty : .string("abc")
      let request = Request(
        HTTPMethod(before), server.url("/start"), headers: ["Content-Type": "text/plain", "X-A": "1"],
        body: body)
      let response = try await client.send(request)
      _ = try await response.body.drain()
      #expect(response.status == 200)
      #expect(response.history.map(\.to) == [server.url("/end")])
      let last = try #require(server.requests.last)
      #expect(last.method == after)
      #expect(last.text == (before == after && before != "HEAD" ? "abc" : ""))
      #expect((last.value(of: "Content-Type") != nil) == (before == after))
      #expect(last.value(of: "X-A") == "1")
      #expect(server.connectionCount == 1)
    }
    await server.stop()
  }

  @Test func `secrets stay at home, the client's own included`() async throws {
    let other = try ScriptedServer(script: .response(body: "there"))
    let first = try Self.server(302, to: other.url("/end"))
    try await TestClient.with({ $0.headers = ["Authorization": "Bearer client", "X-Plain": "p"] }) { client in
      var request = Request.get(first.url("/"), headers: ["Cookie": "a=1", "X-Key": "k"])
      request.secretHeaders = ["x-key"]
      #expect(try await client.text(request) == "there")
      let sent = try #require(first.requests.first)
      #expect(sent.value(of: "Authorization") == "Bearer client")
      #expect(sent.value(of: "X-Key") == "k")
      let arrived = try #require(other.requests.first)
      for name in ["Authorization", "Cookie", "X-Key"] { #expect(arrived.value(of: name) == nil) }
      #expect(arrived.value(of: "X-Plain") == "p")
    }
    await first.stop()
    await other.stop()
  }

  @Test func `a circle ends at the limit and names the way`() async throws {
    let server = try Self.server(302, to: "/again")
    try await TestClient.with({ $0.redirects.limit = 3 }) { client in
      let error = await failure { try await client.send(.get(server.url("/"))) }
      #expect(error?.kind == .tooManyRedirects)
      #expect(error?.message.contains("/again") == true)
      #expect(server.requests.count == 4)
    }
    await server.stop()
  }

  @Test func `odd targets are resolved, the fragment is inherited and never sent`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/a/b"
        ? [.response(status: 302, fields: [("Location", "../c d?q=é")])] : [.response(body: request.target)]
    }
    try await TestClient.with { client in
      let response = try await client.send(.get(server.url("/a/b#part")))
      #expect(response.url == server.url("/c%20d?q=%c3%a9#part"))
      #expect(server.requests.last?.target == "/c%20d?q=%c3%a9")
    }
    await server.stop()
  }

  @Test func `other schemes and one-shot bodies are refused`() async throws {
    for (location, kind) in [
      ("file:///etc/passwd", HTTPError.Kind.redirectRefused), ("/end", .bodyNotReplayable),
    ] {
      let server = try Self.server(307, to: location)
      try await TestClient.with { client in
        let parts = AsyncStream<[UInt8]> { continuation in
          continuation.yield([1])
          continuation.finish()
        }
        let error = await failure { try await client.send(.put(server.url("/"), body: .stream(parts))) }
        #expect(error?.kind == kind)
      }
      await server.stop()
    }
  }

  @Test func `300, 304 and a missing target are delivered`() async throws {
    for status in [300, 304, 302] {
      let fields = status == 302 ? [] : [("Location", "/end")]
      let server = try ScriptedServer(script: .response(status: status, fields: fields))
      try await TestClient.with { client in
        let response = try await client.send(.get(server.url("/")))
        #expect(response.status.code == status)
      }
      await server.stop()
    }
  }

  @Test func `one total limit spans all hops`() async throws {
    let server = try ScriptedServer { request in
      [.wait(.milliseconds(150)), .response(status: 302, fields: [("Location", "/more")])]
    }
    try await TestClient.with({ $0.timeouts.total = .milliseconds(400) }) { client in
      let error = await failure { try await client.send(.get(server.url("/"))) }
      #expect(error?.kind == .totalTimeout)
    }
    await server.stop()
  }
}
