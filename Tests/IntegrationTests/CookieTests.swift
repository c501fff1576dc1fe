import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct CookieTests {
  /// `/set` answers with a redirect and cookies; `/` with what it was sent.
  private static func server(_ cookies: [String], to location: String = "/") throws -> ScriptedServer {
    try ScriptedServer { request in
      if request.target == "/set" {
        return [
          .response(status: 302, fields: [("Location", location)] + cookies.map { ("Set-Cookie", $0) })
        ]
      }
      return [.response(body: request.values(of: "Cookie").joined(separator: "|"))]
    }
  }

  @Test func `cookies are off by default`() async throws {
    let server = try Self.server(["a=1"])
    try await TestClient.with { client in
      try await client.expect("", from: .get(server.url("/set")))
      try await client.expect("", from: .get(server.url("/")))
    }
    await server.stop()
  }

  @Test func `a cookie of a redirect is stored before the next hop`() async throws {
    let server = try Self.server(["s=2; Path=/", "t=3; Expires=Sun, 06 Nov 2094 08:49:37 GMT; HttpOnly"])
    let jar = CookieJar()
    try await TestClient.with({ $0.cookies = jar }) { client in
      try await client.expect("s=2; t=3", from: .get(server.url("/set")))
      #expect(jar.all.map(\.name) == ["s", "t"])
      #expect(jar.all.map(\.isHTTPOnly) == [false, true])
      #expect(jar.all.map { $0.expires == nil } == [true, false])
      try await client.expect("s=2; t=3", from: .get(server.url("/")))
    }
    await server.stop()
  }

  @Test func `cookies of one host don't go to another`() async throws {
    let server = try Self.server(["a=1"])
    let jar = CookieJar()
    try await TestClient.with({ $0.cookies = jar }) { client in
      try await client.expect("a=1", from: .get(server.url("/set")))
      let other = server.url("/").replacing("127.0.0.1", with: "localhost")
      if other != server.url("/") {
        var request = Request.get(other)
        request.addressing = Addressing()
        request.addressing?.overrides = ["localhost:\(server.port):127.0.0.1"]
        try await client.expect("", from: request)
      }
    }
    await server.stop()
  }

  @Test func `a handle that is used again holds nothing of another jar`() async throws {
    let server = try Self.server(["a=1"])
    let (one, two) = (CookieJar(), CookieJar())
    try await TestClient.with({ $0.loops = 1 }) { client in
      for (use, expected) in [
        (CookieUse.jar(one), "a=1"), (.none, ""), (.jar(two), ""), (.ofClient, ""), (.jar(one), "a=1"),
      ] {
        var request = Request.get(server.url(expected.isEmpty ? "/" : "/set"))
        request.cookies = use
        try await client.expect(expected, from: request)
      }
      #expect(one.all.count == 1 && two.all.isEmpty)
    }
    await server.stop()
  }

  @Test func `one jar serves many loops at once`() async throws {
    let server = try ScriptedServer { request in
      [.response(fields: [("Set-Cookie", "c\(request.target.dropFirst())=1")], body: "ok")]
    }
    let jar = CookieJar()
    try await TestClient.with {
      $0.cookies = jar
      $0.loops = 4
    } _: { client in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<40 {
          group.addTask {
            var request = Request.get("http://host\(index % 8).test:\(server.port)/\(index)")
            request.addressing = Addressing()
            request.addressing?.overrides = ["host\(index % 8).test:\(server.port):127.0.0.1"]
            _ = try await client.text(request)
          }
        }
        try await group.waitForAll()
      }
      #expect(Set(jar.all.map(\.name)) == Set((0..<40).map { "c\($0)" }))
      #expect(Set(jar.all.map(\.domain)).count == 8)
    }
    await server.stop()
  }

  @Test func `cookies are changed and taken away by the server`() async throws {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/set": [.response(fields: [("Set-Cookie", "a=1"), ("Set-Cookie", "b=1")], body: "")]
      case "/change": [.response(fields: [("Set-Cookie", "a=2"), ("Set-Cookie", "b=; Max-Age=0")], body: "")]
      default: [.response(body: request.value(of: "Cookie") ?? "")]
      }
    }
    let jar = CookieJar()
    try await TestClient.with({ $0.cookies = jar }) { client in
      try await client.expect("", from: .get(server.url("/set")))
      try await client.expect("", from: .get(server.url("/change")))
      try await client.expect("a=2", from: .get(server.url("/")))
      #expect(jar.all.map(\.value) == ["2"])
    }
    await server.stop()
  }

  @Test func `a domain cookie is for a real domain, never for a public suffix`() async throws {
    let server = try ScriptedServer { request in
      [
        .response(
          fields: [
            ("Set-Cookie", "bad=1; Domain=co.uk"), ("Set-Cookie", "other=1; Domain=example.com"),
            ("Set-Cookie", "good=1; Domain=shop.co.uk"),
          ], body: request.value(of: "Cookie") ?? "")
      ]
    }
    let jar = CookieJar()
    try await TestClient.with {
      $0.cookies = jar
      $0.addressing.overrides = [
        "www.shop.co.uk:\(server.port):127.0.0.1", "a.shop.co.uk:\(server.port):127.0.0.1",
      ]
    } _: { client in
      _ = try await client.text(.get("http://www.shop.co.uk:\(server.port)/"))
      #expect(jar.all.map(\.name) == ["good"])
      #expect(jar.all.first?.includesSubdomains == true)
      try await client.expect("good=1", from: .get("http://a.shop.co.uk:\(server.port)/"))
    }
    await server.stop()
  }

  @Test func `a hand-set cookie is sent beside the jar's, and bound to its origin, port included`()
    async throws
  {
    let other = try Self.server([])
    let server = try Self.server(["a=1"], to: other.url("/"))
    let jar = CookieJar()
    try await TestClient.with({ $0.cookies = jar }) { client in
      // The jar's cookies know no ports (RFC 6265 §8.5), the hand-set one does.
      let first = Request.get(server.url("/set"), headers: ["Cookie": "own=1"])
      try await client.expect("a=1", from: first)
      #expect(server.requests.first?.values(of: "Cookie") == ["own=1"])
      let second = Request.get(server.url("/"), headers: ["Cookie": "own=1"])
      try await client.expect("a=1; own=1", from: second)
    }
    await server.stop()
    await other.stop()
  }

  @Test func `cookies set through the API are sent where they belong`() async throws {
    let server = try Self.server([])
    let jar = CookieJar()
    try jar.set(Cookie("mine", "1", domain: "127.0.0.1"))
    try jar.set(Cookie("deep", "1", domain: "127.0.0.1", path: "/deep"))
    try jar.set(Cookie("elsewhere", "1", domain: "example.org"))
    try await TestClient.with({ $0.cookies = jar }) { client in
      try await client.expect("mine=1", from: .get(server.url("/")))
      try await client.expect("deep=1; mine=1", from: .get(server.url("/deep/er")))
    }
    await server.stop()
  }

  @Test("cookies over HTTP/2", .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func http2() async throws {
    let extra = """
      location = /set { add_header Set-Cookie "a=1; Secure"; add_header Set-Cookie "b=2"; return 200 "set"; }
      location = /echo { return 200 $http_cookie; }
      """
    try await NginxServer.with(extra: extra) { server in
      let jar = CookieJar()
      try await TestClient.trusting({ $0.cookies = jar }) { client in
        let response = try await client.send(.get(server.http2("/set")))
        #expect(response.version == .http2)
        _ = try await response.body.drain()
        #expect(jar.all.map(\.name) == ["a", "b"])
        try await client.expect("a=1; b=2", from: .get(server.http2("/echo")))
      }
    }
  }
}
