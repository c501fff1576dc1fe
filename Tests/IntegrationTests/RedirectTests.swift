import Penstock
import PenstockTesting
import StreamCore
import Synchronization
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

  @Test func `secrets that were dropped aren't back on the way back`() async throws {
    let home = try ScriptedServer { request in
      request.target == "/start"
        ? [.response(status: 302, fields: [("Location", request.value(of: "X-Away") ?? "")])]
        : [.response(body: "home")]
    }
    let away = try Self.server(302, to: home.url("/end"))
    try await TestClient.with({ $0.headers = ["Authorization": "Bearer client"] }) { client in
      var request = Request.get(
        home.url("/start"),
        headers: [
          "Cookie": "a=1", "Proxy-Authorization": "p", "X-API-Key": "k", "X-Away": away.url("/"),
        ])
      request.secretHeaders = ["X-API-Key"]
      let response = try await client.send(request)
      let text = try await response.body.collect(upTo: .kibibytes(1))
      #expect(text == Array("home".utf8))
      #expect(response.history.map(\.from) == [home.url("/start"), away.url("/")])
      let last = try #require(home.requests.last)
      for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-API-Key"] {
        // One for a proxy goes to none but a proxy.
        #expect((home.requests.first?.value(of: name) != nil) == (name != "Proxy-Authorization"), "\(name)")
        #expect(away.requests.first?.value(of: name) == nil, "\(name)")
        #expect(last.value(of: name) == nil, "\(name)")
      }
    }
    await home.stop()
    await away.stop()
  }

  @Test func `user info of the URL stays at home, too`() async throws {
    let other = try ScriptedServer(script: .response(body: "there"))
    let first = try Self.server(302, to: other.url("/"))
    try await TestClient.with { client in
      let url = first.url("/").replacing("http://", with: "http://me:secret@")
      try await client.expect("there", from: .get(url))
      #expect(first.requests.first?.value(of: "Authorization") != nil)
      #expect(other.requests.first?.value(of: "Authorization") == nil)
    }
    await first.stop()
    await other.stop()
  }

  @Test func `a policy stops at a redirect and hands its body out, or sends something else`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/start"
        ? [.response(status: 302, fields: [("Location", "/end")], body: "moved")]
        : [.response(body: request.target)]
    }
    try await TestClient.with { client in
      var request = Request.get(server.url("/start"))
      request.redirects = RedirectPolicy()
      request.redirects?.decide = { _ in .stop }
      let stopped = try await client.send(request)
      #expect(stopped.status == 302 && stopped.history.isEmpty)
      let text = try await stopped.body.collect(upTo: .kibibytes(1))
      #expect(text == Array("moved".utf8))
      let other = server.url("/other")
      request.redirects?.decide = { _ in .rewrite(.get(other)) }
      try await client.expect("/other", from: request)
    }
    await server.stop()
  }

  @Test("a body is sent again where it can be", arguments: [307, 308])
  func replayed(status: Int) async throws {
    let server = try Self.server(status, to: "/end")
    let directory = try TemporaryDirectory()
    let path = try directory.write("body", "content")
    try await TestClient.with { client in
      var form = MultipartForm()
      form.addFile("f", path: path)
      let again = RequestBody.replayableStream { AsyncStream<[UInt8]>(unfolding: OneShot("content").next) }
      for body in [RequestBody.string("content"), .file(path), again, .multipart(form)] {
        try await client.expect("end", from: .put(server.url("/start"), body: body))
        let pair = server.requests.suffix(2)
        #expect(pair.first?.body == pair.last?.body)
        #expect(pair.last?.text.contains("content") == true)
      }
    }
    await server.stop()
  }
}

/// One buffer, then the end.
private final class OneShot: Sendable {
  private let text: Mutex<String?>
  init(_ text: String) { self.text = Mutex(text) }
  @Sendable func next() async -> [UInt8]? { text.withLock { $0.take() }.map { Array($0.utf8) } }
}
