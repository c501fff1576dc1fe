import Foundation
import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Names: DNS over HTTPS, HSTS, letters beyond ASCII; and what shows in a process of its own.
@Suite(.timeLimit(.minutes(1))) struct NameTests {
  @Test("names are looked up over HTTPS", .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func doh() async throws {
    let pair = try await Certificates.shared().local
    let script = Tool.tests.appendingPathComponent("Scripts/doh.py").path
    let resolver = try ChildProcess(["python3", script, pair.certificate, pair.key])
    let port = try await resolver.port()
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.trusting({
      $0.addressing.dnsOverHTTPS = "https://localhost:\(port)/dns-query"
      $0.addressing.family = .v4
    }) { client in
      try await client.expect("ok", from: .get("http://only-over-https.test:\(server.port)/"))
      #expect(server.requests.first?.value(of: "Host") == "only-over-https.test:\(server.port)")
    }
    let question = try await resolver.line("question")
    #expect(question == "only-over-https.test 1")
    await resolver.stop()
    await server.stop()
  }

  @Test func `a host with letters beyond ASCII is asked for by its name in the DNS`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with({
      $0.addressing.overrides = ["xn--bcher-kva.test:\(server.port):127.0.0.1"]
    }) { client in
      try await client.expect("ok", from: .get("http://Bücher.test:\(server.port)/ü"))
      #expect(server.requests.first?.value(of: "Host") == "xn--bcher-kva.test:\(server.port)")
      let error = await failure { try await client.send(.get("http://😀.test/")) }
      #expect(error?.kind == .invalidURL)
    }
    await server.stop()
  }

  // MARK: HSTS

  @Test("a host that said so is asked by https alone", .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func hsts() async throws {
    let extra = """
      add_header Strict-Transport-Security "max-age=100" always;
      location = /down { return 302 http://localhost:$server_port/hello; }
      """
    try await NginxServer.with(extra: extra) { server in
      let store = HSTSStore()
      let plain = "http://localhost:\(server.tlsPort)"
      try await TestClient.trusting({ $0.hsts = store }) { client in
        // Not known yet: plain http to a port of TLS.
        let first = try await client.send(.get(plain + "/hello"))
        #expect(first.status == 400)
        _ = try await first.body.drain()
        #expect(store.knownHosts.isEmpty)
        try await client.expect("hello", from: .get(server.tls("/hello")))
        #expect(store.knownHosts.map(\.name) == ["localhost"])
        let second = try await client.send(.get(plain + "/hello"))
        #expect(second.url == server.tls("/hello"))
        _ = try await second.body.drain()
        // A redirect down is one to https.
        let down = try await client.send(.get(server.tls("/down")))
        #expect(down.url == server.tls("/hello"))
        #expect(down.history.first?.to == server.tls("/hello"))
        _ = try await down.body.drain()
      }
      try await TestClient.trusting { client in
        #expect(await failure { try await client.send(.get(server.tls("/down"))) }?.kind == .redirectRefused)
      }
    }
  }

  // MARK: processes

  private func probe(
    _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> (output: [String], status: Int32) {
    let child = try ChildProcess([Tool.built("fault-probe")] + arguments, environment: environment)
    var lines: [String] = []
    for await line in child.lines { lines.append(line) }
    return (lines, await child.status())
  }

  @Test(
    "an IPv4 address answers where an IPv6 one doesn't",
    .enabled(if: Tool.compiler != nil, "needs a C compiler"))
  func silent_ipv6() async throws {
    let directory = try TemporaryDirectory()
    let source = Tool.tests.appendingPathComponent("Scripts/ordered_resolver.c").path
    let library = directory.file("resolver.so")
    try await ChildProcess.run([Tool.compiler ?? "cc", "-shared", "-fPIC", "-o", library, source])
    let server = try ScriptedServer(script: .response(body: "four"))
    let silent = try FullListener(ipv6Port: server.port)
    let run = try await probe(
      ["get", "http://both.test:\(server.port)/"], environment: ["LD_PRELOAD": library])
    #expect(run.output == ["body four"])
    withExtendedLifetime(silent) {}
    await server.stop()
  }

  @Test func `the environment's proxy is used, but for what it excepts`() async throws {
    let proxy = try ScriptedServer(script: .response(body: "proxied"))
    let server = try ScriptedServer(script: .response(body: "direct"))
    let variables = ["http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.1", "NO_PROXY": ""]
    let through = try await probe(["get", "http://host.test/"], environment: variables)
    #expect(through.output == ["body proxied"])
    let direct = try await probe(["get", server.url], environment: variables)
    #expect(direct.output == ["body direct"])
    let capitals = try await probe(
      ["get", server.url], environment: ["HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": ""])
    #expect(capitals.output == ["body direct"])
    await proxy.stop()
    await server.stop()
  }

  @Test("the key log has the sessions' secrets", .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func key_log() async throws {
    let root = try await Certificates.shared().root
    let directory = try TemporaryDirectory()
    let path = directory.file("keys.log")
    try await TLSScript.with("ok") { server in
      let run = try await probe(["key-log", server.url, root, path])
      #expect(run.status == 0)
      // A second start comes too late.
      #expect(run.output == ["body ok", "late configuration"])
    }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("CLIENT_TRAFFIC_SECRET_0") || text.contains("CLIENT_RANDOM"))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  // MARK: sessions

  @Test("a new connection resumes the session", .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func resumption() async throws {
    try await TLSScript.with("ok") { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        for _ in 0..<2 {
          try await client.expect("ok", from: .get(server.url, headers: ["Connection": "close"]))
        }
        let first = try await server.process.line("accepted")
        let second = try await server.process.line("accepted")
        #expect(first == "resumed=False")
        #expect(second == "resumed=True")
      }
    }
  }
}
