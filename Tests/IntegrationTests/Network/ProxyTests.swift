import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Requests through proxies of every kind.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Tool.hasPython, "needs python3 and openssl")) struct ProxyTests {
  private func client<Value>(
    _ proxy: String, edit: (inout ProxyServer) throws -> Void = { _ in }, except: [String] = [],
    _ body: (Client) async throws -> Value
  ) async throws -> Value {
    var server = try ProxyServer(proxy)
    try edit(&server)
    return try await TestClient.trusting({ $0.proxy = .through(server, except: except) }, body)
  }

  @Test func `an http URL goes to an HTTP proxy by its absolute target`() async throws {
    try await ProxyScript.with("http") { proxy in
      try await client(proxy.url()) { client in
        try await client.expect("via proxy http://host.test/x?y=1\n", from: .get("http://host.test/x?y=1"))
        try await proxy.expect("request", "GET http://host.test/x?y=1")
      }
    }
  }

  @Test func `an https URL goes through a tunnel, and the head is the server's`() async throws {
    try await TLSScript.with("ok") { server in
      try await ProxyScript.with("http") { proxy in
        try await client(proxy.url()) { client in
          let response = try await client.send(.get(server.url, headers: ["X-Secret": "s"]))
          #expect(response.status == 200)
          #expect(response.headers["X-Proxy"] == nil)
          try await response.body.drain(expecting: 2)
          try await proxy.expect("request", "CONNECT localhost:\(server.port)")
          // Kept, and nothing of the request was told to the proxy.
          let again = try await client.send(.get(server.url))
          #expect(again.facts.connection.reused)
        }
      }
    }
  }

  @Test func `a tunnel for an http URL where it is asked for`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await ProxyScript.with("http") { proxy in
      try await client(proxy.url(), edit: { $0.tunnelsAlways = true }) { client in
        try await client.expect("ok", from: .get(server.url + "/x"))
        try await proxy.expect("request", "CONNECT 127.0.0.1:\(server.port)")
        #expect(server.requests.first?.target == "/x")
      }
    }
    await server.stop()
  }

  @Test(arguments: [403, 502, 302]) func `a refused tunnel is a proxy error with its status`(
    status: Int
  ) async throws {
    try await ProxyScript.with("http", "status=\(status)") { proxy in
      try await client(proxy.url(user: "me:secret")) { client in
        let error = await failure { try await client.send(.get("https://host.test/")) }
        #expect(error?.kind == .proxyRefused)
        #expect(error?.status?.code == status)
        #expect(error?.phase == .connect)
        #expect(error?.mayHaveBeenProcessed == false)
        #expect(error?.description.contains("127.0.0.1:\(proxy.port)") == true)
        #expect(error?.description.contains("secret") == false)
      }
    }
  }

  @Test func `a proxy that hangs up is an error that names it`() async throws {
    try await ProxyScript.with("http", "close=1") { proxy in
      try await client(proxy.url()) { client in
        let error = await failure { try await client.send(.get("https://host.test/")) }
        #expect(error != nil)
        #expect(error?.message.contains("proxy") == true, "\(String(describing: error))")
        #expect(error?.mayHaveBeenProcessed == false)
      }
    }
  }

  @Test(arguments: ["basic", "digest"], [ProxyServer.Authentication.basic, .digest, .any])
  func `credentials of a tunnel`(offered: String, used: ProxyServer.Authentication) async throws {
    try await TLSScript.with("ok") { server in
      try await ProxyScript.with("http", "user=me:s%3Ae cret", "auth=\(offered)") { proxy in
        try await client(
          proxy.url(),
          edit: {
            $0.user = "me"
            $0.password = "s%3Ae cret"
            $0.authentication = used
          }
        ) { client in
          let result = await failure { try await client.expect("ok", from: .get(server.url)) }
          if used == .any || used.rawValue == offered {
            #expect(result == nil, "\(String(describing: result))")
          } else {
            #expect(result?.kind == .proxyRefused)
            #expect(result?.status == 407)
          }
        }
      }
    }
  }

  @Test(arguments: ["basic", "digest"]) func `credentials beside an absolute target, with a body`(
    kind: String
  ) async throws {
    try await ProxyScript.with("http", "user=me:secret", "auth=\(kind)") { proxy in
      try await client(
        proxy.url(user: "me:secret"), edit: { $0.authentication = kind == "basic" ? .basic : .digest }
      ) { client in
        try await client.expect("via proxy http://host.test/\n", from: .get("http://host.test/"))
        // The second one knows what the proxy wants.
        try await client.expect("via proxy http://host.test/2\n", from: .get("http://host.test/2"))
      }
    }
  }

  @Test func `what is meant for the proxy never gets into the tunnel`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await ProxyScript.with("http", "user=me:secret") { proxy in
      try await client(
        proxy.url(),
        edit: {
          $0.tunnelsAlways = true
          $0.headers = ["X-For-Proxy": "1"]
        }
      ) { client in
        // "me:secret"
        let field: HTTPFields = ["Proxy-Authorization": "Basic bWU6c2VjcmV0", "X-For-Server": "1"]
        try await client.expect("ok", from: .get(server.url, headers: field))
        try await proxy.expect("field x-for-proxy", "1")
        let request = server.requests.first
        #expect(request?.value(of: "Proxy-Authorization") == nil)
        #expect(request?.value(of: "X-For-Proxy") == nil)
        #expect(request?.value(of: "X-For-Server") == "1")
      }
      // Nor to a server without a proxy between.
      try await TestClient.with { client in
        try await client.expect("ok", from: .get(server.url, headers: ["Proxy-Authorization": "Basic x"]))
        #expect(server.requests.last?.value(of: "Proxy-Authorization") == nil)
      }
    }
    await server.stop()
  }

  @Test func `a proxy that is spoken to by TLS, with its own roots`() async throws {
    let certificates = try await Certificates.shared()
    let pair = certificates.local
    try await TLSScript.with("ok") { server in
      try await ProxyScript.with("http", "cert=\(pair.certificate)", "key=\(pair.key)") { proxy in
        try await client(proxy.url("https"), edit: { $0.tls.caFile = certificates.root }) { client in
          try await client.expect("ok", from: .get(server.url))
          try await proxy.expect("request", "CONNECT localhost:\(server.port)")
        }
        // The server's roots don't make the proxy trusted.
        try await client(proxy.url("https")) { client in
          let error = await failure { try await client.send(.get(server.url)) }
          #expect(error?.kind == .serverCertificate)
          #expect(error?.message.contains("through the proxy") == true)
        }
      }
    }
  }

  @Test(arguments: [
    ("socks4", "socks4 127.0.0.1"), ("socks4a", "socks4a localhost"), ("socks5", "socks5 127.0.0.1"),
    ("socks5h", "socks5h localhost"),
  ])
  func `SOCKS, with names looked up where the kind says`(scheme: String, line: String) async throws {
    try await TLSScript.with("ok") { server in
      try await ProxyScript.with("socks") { proxy in
        var v4 = Request.get(server.url)
        v4.addressing = Addressing()
        v4.addressing?.family = .v4
        try await client(proxy.url(scheme)) { client in try await client.expect("ok", from: v4) }
        let words = line.split(separator: " ").map(String.init)
        try await proxy.expect(words[0], "\(words[1]):\(server.port)")
      }
    }
  }

  @Test func `SOCKS with credentials`() async throws {
    try await TLSScript.with("ok") { server in
      try await ProxyScript.with("socks", "user=me:secret") { proxy in
        try await client(proxy.url("socks5h", user: "me:secret")) { client in
          try await client.expect("ok", from: .get(server.url))
        }
        try await proxy.expect("auth", "socks")
        try await client(proxy.url("socks5h", user: "me:wrong")) { client in
          let error = await failure { try await client.send(.get(server.url)) }
          #expect(error?.kind == .proxyRefused)
          #expect(error?.description.contains("wrong") == false)
        }
      }
    }
  }

  @Test func `SOCKS that refuses`() async throws {
    try await ProxyScript.with("socks", "status=2") { proxy in
      try await client(proxy.url("socks5h")) { client in
        #expect(await failure { try await client.send(.get("http://host.test/")) }?.kind == .proxyRefused)
      }
    }
  }

  @Test func `a proxy's name that isn't found is an error of its own`() async throws {
    try await client("http://no-such-proxy.invalid:3128") { client in
      let error = await failure { try await client.send(.get("http://host.test/")) }
      #expect(error?.kind == .proxyNotResolved)
    }
  }

  @Test func `hosts that are excepted are reached directly`() async throws {
    let server = try ScriptedServer(script: .response(body: "direct"))
    try await ProxyScript.with("http") { proxy in
      try await client(proxy.url(), except: ["127.0.0.0/8"]) { client in
        try await client.expect("direct", from: .get(server.url))
        try await client.expect("via proxy http://host.test/\n", from: .get("http://host.test/"))
        var request = Request.get("http://host.test:\(server.port)/")
        request.proxy = .direct
        request.addressing = Addressing()
        request.addressing?.overrides = ["host.test:\(server.port):127.0.0.1"]
        try await client.expect("direct", from: request)
      }
    }
    await server.stop()
  }

  @Test func `a POST through a proxy that wants Digest is executed once`() async throws {
    try await ProxyScript.with("http", "user=me:secret", "auth=digest") { proxy in
      try await client(proxy.url(user: "me:secret"), edit: { $0.authentication = .digest }) { client in
        let response = try await client.send(.post("http://host.test/", body: .string("hello")))
        #expect(response.status == 200)
        // The first one carries nothing.
        try await proxy.expect("body", "0")
        try await proxy.expect("body", "5")
      }
    }
  }
}
