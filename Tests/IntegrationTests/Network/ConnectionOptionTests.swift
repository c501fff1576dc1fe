import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Addresses, ages, prewarmed connections.
@Suite(.timeLimit(.minutes(1))) struct ConnectionOptionTests {
  private func overriding(_ url: String, _ entries: [String]) -> Request {
    var request = Request.get(url)
    request.addressing = Addressing()
    request.addressing?.overrides = entries
    return request
  }

  @Test func `an override holds for its request alone`() async throws {
    let one = try ScriptedServer(script: .response(body: "one"))
    let two = try ScriptedServer(script: .response(body: "two"))
    try await TestClient.with({ $0.loops = 1 }) { client in
      // The same host and port, twice at other addresses; then without an override.
      let url = "http://name.invalid:\(one.port)/"
      try await client.expect("one", from: overriding(url, ["name.invalid:\(one.port):127.0.0.1"]))
      #expect(await failure { try await client.send(.get(url)) }?.kind == .hostNotResolved)
      // Nobody listens there: the kept connection to the other address isn't taken.
      let elsewhere = overriding(url, ["name.invalid:\(one.port):127.0.0.77"])
      #expect(await failure { try await client.send(elsewhere) }?.kind == .connectFailed)
      try await client.expect("one", from: overriding(url, ["name.invalid:\(one.port):127.0.0.1"]))
      #expect(one.connectionCount == 1)
      try await client.expect("two", from: .get(two.url))
    }
    await one.stop()
    await two.stop()
  }

  @Test func `overrides of a client, one among many`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with({ configuration in
      configuration.addressing.overrides = (0..<500).map { "host\($0).test:\(server.port):127.0.0.1" }
    }) { client in
      try await client.expect("ok", from: .get("http://host0.test:\(server.port)/"))
      try await client.expect("ok", from: .get("http://HOST499.test:\(server.port)/"))
      #expect(server.requests.last?.value(of: "Host")?.lowercased() == "host499.test:\(server.port)")
    }
    await server.stop()
  }

  @Test(arguments: [
    "x", "host:0x50:1.2.3.4", "host:80:", ":80:1.2.3.4", "host:99999:1.2.3.4", "a b:80:1.2.3.4",
  ])
  func `an override that can't be read`(entry: String) async throws {
    try await TestClient.with({ $0.addressing.overrides = [entry] }) { client in
      let error = await failure { try await client.send(.get("http://127.0.0.1:1/")) }
      #expect(error?.kind == .invalidConfiguration)
    }
  }

  @Test func `an interface by its address, and ports to connect from`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with({
      $0.addressing.interface = "127.0.0.5"
      $0.addressing.localPorts = 42000...42999
    }) { client in
      let response = try await client.send(.get(server.url))
      let parts = response.facts.connection.local.split(separator: ":")
      #expect(parts.first == "127.0.0.5")
      #expect(parts.last.flatMap { Int($0) }.map { (42000...42999).contains($0) } == true)
      _ = try await response.body.drain()
    }
    try await TestClient.with({ $0.addressing.interface = "no-such-interface" }) { client in
      let error = await failure { try await client.send(.get(server.url)) }
      #expect(error?.kind == .connectFailed)
    }
    await server.stop()
  }

  @Test func `the family is kept to`() async throws {
    let server = try ScriptedServer(
      script: .response(body: "six"), options: ServerOptions(address: .loopbackIPv6))
    let nobody = try RefusingPort(server.port)
    try await TestClient.with({ $0.addressing.family = .v6 }) { client in
      try await client.expect("six", from: .get("http://localhost:\(server.port)/"))
    }
    try await TestClient.with({ $0.addressing.family = .v4 }) { client in
      let error = await failure { try await client.send(.get("http://localhost:\(server.port)/")) }
      #expect(error?.kind == .connectFailed)
    }
    withExtendedLifetime(nobody) {}
    await server.stop()
  }

  // libcurl knows "localhost" by itself: 127.0.0.1, then ::1.

  @Test func `an address of the other family is tried when the first hasn't answered for the delay`()
    async throws
  {
    let server = try ScriptedServer(
      script: .response(body: "six"), options: ServerOptions(address: .loopbackIPv6))
    let silent = try FullListener(port: server.port)
    let delay = Duration.milliseconds(60)
    try await TestClient.with({ $0.addressing.happyEyeballsDelay = delay }) { client in
      let response = try await client.send(.get("http://localhost:\(server.port)/"))
      #expect(response.facts.connection.remote == "[::1]:\(server.port)")
      let timings = response.facts.timings
      let resolved = try #require(timings.dns)
      let connected = try #require(timings.connect)
      // libcurl's clock for this has milliseconds, cut off.
      #expect(connected - resolved >= delay - .milliseconds(2))
      _ = try await response.body.drain()
      #expect(server.connectionCount == 1)
    }
    withExtendedLifetime(silent) {}
    await server.stop()
  }

  @Test func `the other family isn't tried before the delay is over, unless the first refuses`()
    async throws
  {
    let server = try ScriptedServer(
      script: .response(body: "six"), options: ServerOptions(address: .loopbackIPv6))
    let silent = try FullListener(port: server.port)
    let other = try ScriptedServer(
      script: .response(body: "six"), options: ServerOptions(address: .loopbackIPv6))
    try await TestClient.with({
      $0.addressing.happyEyeballsDelay = .seconds(600)
      $0.timeouts.connect = .milliseconds(700)
    }) { client in
      let error = await failure { try await client.send(.get("http://localhost:\(server.port)/")) }
      #expect(error?.kind == .connectTimeout, "\(String(describing: error))")
      #expect(server.connectionCount == 0)
      try await client.expect("six", from: .get("http://localhost:\(other.port)/"))
    }
    withExtendedLifetime(silent) {}
    await server.stop()
    await other.stop()
  }

  @Test func `settings that can't be are refused by name`() async throws {
    func refused(_ edit: (inout ClientConfiguration) -> Void, _ name: String) async throws {
      try await TestClient.with(edit) { client in
        let error = await failure { try await client.send(.get("http://127.0.0.1:1/")) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.message.contains(name) == true, "\(String(describing: error))")
      }
    }
    try await refused({ $0.addressing.cacheTime = .seconds(-1) }, "cacheTime")
    try await refused({ $0.addressing.happyEyeballsDelay = .seconds(-1) }, "happyEyeballsDelay")
    try await refused({ $0.addressing.dnsOverHTTPS = "http://plain.test/" }, "dnsOverHTTPS")
    try await refused({ $0.addressing.localPorts = 0...5 }, "localPorts")
    try await refused({ $0.addressing.interface = "" }, "interface")
    try await refused({ $0.connectionAge.idle = .seconds(-1) }, "connectionAge.idle")
    for edit: (inout Addressing) -> Void in [{ $0.interface = "lo" }, { $0.localPorts = 5000...5001 }] {
      try await refused(
        {
          $0.addressing.unixSocket = "/tmp/socket"
          edit(&$0.addressing)
        }, "unixSocket")
    }
    for (family, interface) in [(Addressing.Family.v6, "127.0.0.1"), (.v4, "::1")] {
      try await refused(
        {
          $0.addressing.family = family
          $0.addressing.interface = interface
        }, "family")
    }
  }

  @Test func `HTTP/2 alone without what it needs is refused by name`() async throws {
    for (name, edit): (String, (inout TLSOptions) -> Void) in [
      ("tls.offersALPN", { $0.offersALPN = false }), ("tls.maximumVersion", { $0.maximumVersion = .v1_1 }),
    ] {
      try await TestClient.with({
        $0.version = .http2
        edit(&$0.tls)
      }) { client in
        let error = await failure { try await client.send(.get("https://127.0.0.1:1/")) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.message.contains(name) == true, "\(String(describing: error))")
      }
    }
  }

  @Test func `a connection is opened before it is needed`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      try await client.connect(to: server.url)
      #expect(server.connectionCount == 1)
      let response = try await client.send(.get(server.url))
      #expect(response.facts.connection.reused)
      _ = try await response.body.drain()
      #expect(server.connectionCount == 1)
    }
    await server.stop()
  }

  @Test func `"Connection: close" is honoured, whoever says it`() async throws {
    let closing = try ScriptedServer(script: .response(fields: [("Connection", "close")], body: "ok"))
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      for _ in 0..<2 { try await client.expect("ok", from: .get(closing.url)) }
      #expect(closing.connectionCount == 2)
      for _ in 0..<2 {
        try await client.expect("ok", from: .get(server.url, headers: ["Connection": "close"]))
      }
      #expect(server.connectionCount == 2)
    }
    await closing.stop()
    await server.stop()
  }
}
