import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite struct CredentialTests {
  private func origin(_ server: ScriptedServer) -> OriginPattern { OriginPattern(server.url) }

  @Test func `a client's credential goes to its origins and nowhere else`() async throws {
    let there = try ScriptedServer(script: .response(body: "there"))
    let home = try ScriptedServer(
      script: .response(status: 302, fields: [("Location", there.url("/"))], body: "moved"))
    try await TestClient.with({ $0.credentials = [ScopedCredential(.bearer("tok"), for: origin(home))] }) {
      client in
      let got5 = try await client.text(.get(home.url("/")))
      #expect(got5 == "there")
      #expect(home.requests.first?.value(of: "Authorization") == "Bearer tok")
      #expect(there.requests.first?.value(of: "Authorization") == nil)
      _ = try await client.text(.get(there.url("/")))
      #expect(there.requests.last?.value(of: "Authorization") == nil)
      _ = try await client.text(.get(home.url("/")).noAuth())
      #expect(home.requests.last?.value(of: "Authorization") == nil)
    }
    await home.stop()
    await there.stop()
  }

  @Test func `a request's own credential takes the client's place and stays at the first origin`()
    async throws
  {
    let home = try ScriptedServer { request in
      request.target == "/end"
        ? [.response(body: "end")]
        : [.response(status: 302, fields: [("Location", "/end")], body: "")]
    }
    let away = try ScriptedServer { request in
      request.target == "/"
        ? [.response(body: "away")]
        : [.response(status: 302, fields: [("Location", home.url("/end"))], body: "")]
    }
    let start = try ScriptedServer(
      script: .response(status: 302, fields: [("Location", away.url("/back"))], body: ""))
    try await TestClient.with({ $0.credentials = [ScopedCredential(.bearer("client"), for: origin(home))] }) {
      client in
      let own = Request.get(home.url("/x")).authorized(by: .basic(user: "u", password: "p"))
      let got6 = try await client.text(own)
      #expect(got6 == "end")
      #expect(home.requests.map { $0.value(of: "Authorization") } == ["Basic dTpw", "Basic dTpw"])
      let leaving = Request.get(start.url("/")).authorized(by: .bearer("own"))
      let got7 = try await client.text(leaving)
      #expect(got7 == "end")
      #expect(start.requests.first?.value(of: "Authorization") == "Bearer own")
      #expect(away.requests.first?.value(of: "Authorization") == nil)
      #expect(home.requests.last?.value(of: "Authorization") == nil)
    }
    for server in [home, away, start] { await server.stop() }
  }

  @Test func `keys go where they belong, and several credentials go together`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with({
      $0.credentials = [
        ScopedCredential(.apiKey("k1", in: .header("X-My-Key")), for: origin(server)),
        ScopedCredential(.apiKey("k 2", in: .query("my_key")), for: origin(server)),
        ScopedCredential(.apiKey("k3", in: .cookie("sid")), for: origin(server)),
      ]
    }) { client in
      _ = try await client.text(.get(server.url("/a?b=c#d"), headers: ["Cookie": "x=y"]))
      let request = try #require(server.requests.first)
      #expect(request.target == "/a?b=c&my_key=k%202")
      #expect(request.value(of: "X-My-Key") == "k1")
      #expect(request.value(of: "Cookie") == "x=y; sid=k3")
      _ = try await client.text(.get(server.url("/"), headers: ["X-My-Key": "own"]))
      #expect(server.requests.last?.values(of: "X-My-Key") == ["own"])
    }
    await server.stop()
  }

  @Test func `a key in the query is in no event and no response`() async throws {
    let server = try ScriptedServer { request in
      request.target.hasPrefix("/end")
        ? [.response(body: "end")] : [.response(status: 302, fields: [("Location", "/end?x=y")], body: "")]
    }
    try await TestClient.with({
      $0.credentials = [ScopedCredential(.apiKey("s3cret", in: .query("k")), for: origin(server))]
    }) { client in
      var shown: [String] = []
      for try await event in client.events(.get(server.url("/?a=b"))) {
        switch event {
        case .redirect(let hop): shown += [hop.from, hop.to]
        case .head(let head): shown.append(head.url)
        default: break
        }
      }
      #expect(shown == [server.url("/?a=b"), server.url("/end?x=y"), server.url("/end?x=y")])
      #expect(server.requests.map(\.target) == ["/?a=b&k=s3cret", "/end?x=y&k=s3cret"])
    }
    await server.stop()
  }

  @Test func `tokens of a provider are asked for each time, and its errors tell no secret`() async throws {
    struct Odd: Error { let token = "tok-secret" }
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      let good = Request.get(server.url("/")).authorized(by: .bearerToken { "fresh" })
      _ = try await client.text(good)
      #expect(server.requests.last?.value(of: "Authorization") == "Bearer fresh")
      let bad = Request.get(server.url("/")).authorized(by: .bearerToken(from: { throw Odd() }))
      let error = await failure { try await client.text(bad) }
      #expect(error?.kind == .loginDenied)
      #expect(error?.description.contains("secret") == false)
      let broken = await failure {
        try await client.text(Request.get(server.url("/")).authorized(by: .bearer("tok-secret\r\nX: y")))
      }
      #expect(broken?.kind == .invalidConfiguration)
      #expect(broken?.description.contains("secret") == false)
      #expect(server.requests.count == 1)
    }
    await server.stop()
  }

  @Test func `a field of one's own may have blanks in it, and no line ends`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      let good = Request.get(server.url("/")).authorized(by: .header("Authorization", "Token a b"))
      _ = try await client.text(good)
      #expect(server.requests.last?.value(of: "Authorization") == "Token a b")
      for (name, value) in [
        ("X-Blank-Key", "s3cret\n"), ("X-Blank-Key", ""), ("X Blank-Key", "s3cret"),
        ("X-Blank-Key", " s3cret"),
      ] {
        let bad = Request.get(server.url("/")).authorized(by: .header(name, value))
        let error = await failure { try await client.text(bad) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.description.contains("s3cret") == false)
      }
    }
    await server.stop()
  }

  @Test func `an origin that can't be read is told before a byte is sent`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with({ $0.credentials = [ScopedCredential(.bearer("t"), for: "no origin")] }) {
      client in
      let error = await failure { try await client.text(.get(server.url("/"))) }
      #expect(error?.kind == .invalidConfiguration)
      #expect(error?.message.contains("credentials") == true)
      #expect(server.requests.isEmpty)
    }
    await server.stop()
  }

  @Test(arguments: [
    ("https://*.a.example", "https://x.a.example", true), ("https://*.a.example", "https://a.example", false),
    ("https://*.a.example", "https://xa.example", false),
    ("https://*.a.example", "http://x.a.example", false),
    ("https://a.example", "https://A.example:443/p", true),
    ("https://a.example", "https://a.example:444", false),
    ("https://a.example", "http://a.example", false), ("https://a.example/p", "https://a.example/q", true),
    ("nonsense", "https://nonsense", false),
  ])
  func `patterns match whole origins`(_ pattern: String, _ url: String, _ matches: Bool) throws {
    #expect(OriginPattern(pattern).matches(try HTTPOrigin(of: url)) == matches)
  }

  @Test func `secrets are in no description, dump, error or summary`() async throws {
    let secret = "s3cret-value"
    let credentials = [
      ScopedCredential(.bearer(secret), for: "https://a.example"),
      ScopedCredential(.basic(user: secret, password: secret), for: "https://a.example"),
      ScopedCredential(.digest(user: "u", password: secret), for: "https://a.example"),
      ScopedCredential(.apiKey(secret, in: .query("odd_name")), for: "http://127.0.0.1:1"),
      ScopedCredential(
        .aws(.init(id: secret, secret: secret, sessionToken: secret), region: "r", service: "s"),
        for: "https://a.example"),
    ]
    let session = SessionAuthenticator(store: MemorySessionStore(Session(token: secret)))
    _ = try await session.session()
    var shown = "\(credentials) \(session) \(String(reflecting: session))"
    dump(credentials, to: &shown)
    dump(session, to: &shown)
    for scoped in credentials { dump(scoped.credential, to: &shown) }
    try await TestClient.with({ configuration in
      configuration.credentials = credentials
      configuration.timeouts.connect = .seconds(5)
    }) { client in
      let error = await failure { try await client.text(.get("http://127.0.0.1:1/x?a=b")) }
      shown += "\(try #require(error))"
      dump(error, to: &shown)
    }
    #expect(!shown.contains(secret))
    #expect(shown.contains("127.0.0.1:1/x?a=b"))
  }
}

@Suite struct ClientCertificateCredentialTests {
  @Test func `a certificate is shown to its origin alone`() async throws {
    let root = try await Certificates.shared().root
    let files = try await AuthorityFiles.shared()
    let identity = ClientIdentity(.files(certificate: files.alice.certificate, key: files.alice.key))
    let extra =
      "ssl_client_certificate \(root); ssl_verify_client optional; location = /who { return 200 -$ssl_client_s_dn; }"
    try await NginxServer.with(extra: extra) { server in
      try await TestClient.trusting({ configuration in
        let origin = OriginPattern(server.tls("/"))
        configuration.credentials = [ScopedCredential(.clientCertificate(identity), for: origin)]
      }) { client in
        try await client.expect("-CN=alice", from: .get(server.tls("/who")))
        try await client.expect("-", from: Request.get(server.tls("/who")).noAuth())
        try await client.expect("-", from: .get(server.http2("/who")))
      }
    }
  }
}

@Suite struct DigestCredentialTests {
  private static func nonce(_ request: RecordedRequest, _ name: String) -> String? {
    guard let field = request.value(of: "Authorization"), let range = field.firstRange(of: name + "=") else {
      return nil
    }
    return String(field[range.upperBound...].prefix { $0 != "," }.filter { $0 != "\"" })
  }

  private static func challenge(_ nonce: String, stale: Bool = false) -> (String, String) {
    (
      "WWW-Authenticate",
      "Digest realm=\"r\", qop=\"auth\", algorithm=SHA-256, nonce=\"\(nonce)\"\(stale ? ", stale=true" : "")"
    )
  }

  @Test
  func `a challenge is answered once, later requests unasked, a stale nonce and a next one are followed`()
    async throws
  {
    let server = try ScriptedServer { request in
      let nonce = Self.nonce(request, "nonce")
      switch request.target {
      case "/stale" where nonce == "n1":
        return [.response(status: 401, fields: [Self.challenge("n2", stale: true)], body: "")]
      case "/next":
        return [.response(fields: [("Authentication-Info", "nextnonce=\"n3\", qop=auth")], body: "ok")]
      default:
        return nonce == nil
          ? [.response(status: 401, fields: [Self.challenge("n1")], body: "")] : [.response(body: "ok")]
      }
    }
    try await TestClient.with({
      $0.credentials = [ScopedCredential(.digest(user: "u", password: "p"), for: OriginPattern(server.url))]
    }) { client in
      for path in ["/a", "/b?c=d", "/stale", "/next", "/e"] {
        let got8 = try await client.text(.post(server.url(path), body: .string("x")))
        #expect(got8 == "ok")
      }
      let seen = server.requests.map {
        [$0.target, Self.nonce($0, "nonce") ?? "", Self.nonce($0, "nc") ?? ""]
      }
      #expect(
        seen == [
          ["/a", "", ""], ["/a", "n1", "00000001"], ["/b?c=d", "n1", "00000002"],
          ["/stale", "n1", "00000003"],
          ["/stale", "n2", "00000001"], ["/next", "n2", "00000002"], ["/e", "n3", "00000001"],
        ])
      #expect(Self.nonce(server.requests[2], "uri") == "/b?c=d")
    }
    await server.stop()
  }

  @Test func `auth-int puts the body into the digest, and a stream is refused before it is sent`()
    async throws
  {
    let server = try ScriptedServer { request in
      Self.nonce(request, "nonce") == nil
        ? [
          .response(
            status: 401,
            fields: [
              ("WWW-Authenticate", "Digest realm=\"r\", qop=\"auth-int\", algorithm=SHA-512-256, nonce=\"n\"")
            ], body: "")
        ] : [.response(body: "ok")]
    }
    try await TestClient.with({
      $0.credentials = [ScopedCredential(.digest(user: "u", password: "p"), for: OriginPattern(server.url))]
    }) { client in
      for body in ["one", "other"] {
        let got = try await client.text(.post(server.url("/"), body: .string(body)))
        #expect(got == "ok")
      }
      let sent = server.requests.suffix(2)
      #expect(sent.map { Self.nonce($0, "qop") } == ["auth-int", "auth-int"])
      #expect(Set(sent.map { Self.nonce($0, "response") }).count == 2)
      let streamed = RequestBody.stream(AsyncStream<[UInt8]> { $0.finish() })
      let error = await failure { try await client.text(.post(server.url("/"), body: streamed)) }
      #expect(error?.kind == .bodyNotReplayable)
      #expect(server.requests.count == 3)
    }
    await server.stop()
  }

  @Test func `a wrong password is refused once, and the refusal is the response`() async throws {
    let server = try ScriptedServer { _ in [.response(status: 401, fields: [Self.challenge("n")], body: "no")]
    }
    try await TestClient.with { client in
      let request = Request.get(server.url("/")).authorized(by: .digest(user: "u", password: "bad"))
      let got9 = try await client.send(request).status
      #expect(got9 == 401)
      #expect(server.requests.count == 2)
    }
    await server.stop()
  }
}
