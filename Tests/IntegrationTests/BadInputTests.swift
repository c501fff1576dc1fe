import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Whatever can't be sent fails with a typed error that names it, and not a byte leaves.
@Suite(.timeLimit(.minutes(1))) struct BadInputTests {
  private func refused(
    _ make: (String) -> Request, _ kind: HTTPError.Kind, naming word: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      let error = await failure { try await client.send(make(server.url)) }
      #expect(error?.kind == kind, "\(String(describing: error))", sourceLocation: sourceLocation)
      if let word {
        #expect(
          error?.message.contains(word) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
      }
      #expect(server.connectionCount == 0, sourceLocation: sourceLocation)
      #expect(client.isIdle, sourceLocation: sourceLocation)
    }
    await server.stop()
  }

  @Test(
    "URLs",
    arguments: [
      "", "no url", "http://", "http:///x", "//host/x", "/path", "http://host:99999/", "http://ho st/",
      "http://[::1/", "http://host/\r\nX: y", "http://host/\u{0}", "http://a b/", "http://host:port/", ":",
      "http",
    ])
  func urls(url: String) async throws { try await refused({ _ in .get(url) }, .invalidURL) }

  @Test(
    "schemes", arguments: ["ftp://host/", "file:///etc/passwd", "ws://host/", "gopher://host/", "mailto:a@b"])
  func schemes(url: String) async throws {
    try await TestClient.with { client in
      let error = await failure { try await client.send(.get(url)) }
      #expect(error?.kind == .unsupportedScheme || error?.kind == .invalidURL)
    }
  }

  @Test("header values", arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\u{0}b"])
  func header_values(value: String) async throws {
    try await refused({ .get($0, headers: ["X-Name": value]) }, .invalidHeader, naming: "X-Name")
  }

  @Test("header names", arguments: ["", "a b", "a:b", "a\r\nb", "ä", "a\u{0}"])
  func header_names(name: String) async throws {
    var headers: HTTPFields = [:]
    headers.append(name, "value")
    try await refused({ [headers] in .get($0, headers: headers) }, .invalidHeader)
  }

  @Test func `more than one Host field`() async throws {
    try await refused({ .get($0, headers: ["Host": "a", "host": "b"]) }, .invalidHeader, naming: "Host")
  }

  @Test func `a head that is too large to be sent`() async throws {
    let large = String(repeating: "a", count: 1_000_000)
    try await refused({ .get($0, headers: ["X-Large": large]) }, .invalidHeader, naming: "1 MB")
  }

  @Test("methods", arguments: ["", "GE T", "GET\r\nX: y", "GET\u{0}", "GÉT", "CONNECT"])
  func methods(name: String) async throws {
    try await refused({ Request(HTTPMethod(name), $0) }, .invalidMethod)
  }

  @Test func `bodies where there can be none`() async throws {
    try await refused({ Request(.trace, $0, body: .string("x")) }, .invalidBody, naming: "TRACE")
    try await refused({ Request(.head, $0, body: .string("x")) }, .invalidBody, naming: "HEAD")
  }

  @Test func `negative limits of time`() async throws {
    for (name, edit): (String, (inout TimeLimits) -> Void) in [
      ("connect", { $0.connect = .seconds(-1) }), ("idle", { $0.idle = .seconds(-1) }),
      ("total", { $0.total = .seconds(-1) }), ("firstByte", { $0.firstByte = .milliseconds(-1) }),
      ("admission", { $0.admission = .seconds(-1) }),
    ] {
      try await refused(
        { url in
          var request = Request.get(url)
          var limits = TimeLimits()
          edit(&limits)
          request.timeouts = limits
          return request
        }, .invalidConfiguration, naming: name)
    }
  }

  @Test func `settings out of range`() async throws {
    for (name, edit): (String, (inout ClientConfiguration) -> Void) in [
      ("limits.total", { $0.limits.total = 0 }), ("limits.perHost", { $0.limits.perHost = -1 }),
      ("loops", { $0.loops = 0 }), ("memoryBudget", { $0.memoryBudget = .bytes(0) }),
      ("keptConnections", { $0.keptConnections = -1 }),
    ] {
      try await TestClient.with(edit) { client in
        let error = await failure { try await client.send(.get("http://127.0.0.1:1/")) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.message.contains(name) == true)
      }
    }
  }

  @Test func `paths of Unix sockets that are too long`() async throws {
    try await refused(
      { url in
        var request = Request.get(url)
        request.addressing = Addressing()
        request.addressing?.unixSocket = "/" + String(repeating: "a", count: 107)
        return request
      }, .invalidConfiguration, naming: "108")
  }

  @Test func `an address that can't be read is refused before it is used`() async throws {
    try await refused(
      { url in
        var request = Request.get(url)
        request.addressing = Addressing()
        request.addressing?.overrides = ["nonsense"]
        return request
      }, .invalidConfiguration, naming: "nonsense")
  }

  @Test func `an error never shows the secrets of a URL`() async throws {
    try await TestClient.with { client in
      let error = await failure { try await client.send(.get("http://user:hunter2@127.0.0.1:1/?a=b")) }
      #expect(error?.kind == .connectFailed)
      #expect(error.map { "\($0)".contains("hunter2") } == false)
    }
  }
}
