import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1)), .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
struct CertificateTests {
  @Test func `a certificate by nobody is refused, and the error says so`() async throws {
    let pair = try await Certificates.shared().selfSigned
    try await NginxServer.with(certificate: pair) { server in
      try await TestClient.trusting { client in
        let error = await failure { try await client.send(.get(server.tls("/hello"))) }
        #expect(error?.kind == .serverCertificate)
        #expect(error?.phase == .connect)
        #expect(error?.advice?.contains("trusted root") == true)
        #expect(error?.mayHaveBeenProcessed == false)
      }
    }
  }

  @Test func `a certificate for another name is refused, and the error says so`() async throws {
    let pair = try await Certificates.shared().other
    try await NginxServer.with(certificate: pair) { server in
      try await TestClient.trusting { client in
        let error = await failure { try await client.send(.get(server.tls("/hello"))) }
        #expect(error?.kind == .serverCertificate)
        #expect(error?.advice?.contains("another name") == true)
      }
      // The switch for the name leaves the one for trust on, and the other way round.
      try await TestClient.trusting({ $0.tls.verifiesName = false }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
      }
      try await TestClient.trusting({ $0.tls.verifiesTrust = false }) { client in
        #expect(
          await failure { try await client.send(.get(server.tls("/hello"))) }?.kind == .serverCertificate)
      }
    }
  }

  @Test func `the name's switch doesn't switch trust off`() async throws {
    let pair = try await Certificates.shared().selfSigned
    try await NginxServer.with(certificate: pair) { server in
      try await TestClient.trusting({ $0.tls.verifiesName = false }) { client in
        #expect(
          await failure { try await client.send(.get(server.tls("/hello"))) }?.kind == .serverCertificate)
      }
      try await TestClient.with({ $0.tls.verifiesTrust = false }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
      }
    }
  }

  @Test(
    "a verified request never rides on a connection that was opened without verification",
    arguments: [(false, false), (false, true), (true, false)], [false, true])
  func verified_apart(unverified: (trust: Bool, name: Bool), http2: Bool) async throws {
    let certificates = try await Certificates.shared()
    // Each is refused by the check that the first request leaves out.
    let pair = unverified.trust ? certificates.other : certificates.selfSigned
    try await NginxServer.with(certificate: pair) { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        let url = http2 ? server.http2("/hello") : server.tls("/hello")
        var lax = Request.get(url)
        lax.tls = TLSOptions()
        lax.tls?.caFile = certificates.root
        lax.tls?.verifiesTrust = unverified.trust
        lax.tls?.verifiesName = unverified.name
        try await client.expect("hello", from: lax)
        let error = await failure { try await client.send(.get(url)) }
        #expect(error?.kind == .serverCertificate)
        // Nor while the lax connection is still in use.
        let open = try await client.send(lax)
        #expect(await failure { try await client.send(.get(url)) }?.kind == .serverCertificate)
        open.cancel()
        // Other roots are another matter too.
        var foreign = Request.get(url)
        foreign.tls = TLSOptions()
        #expect(await failure { try await client.send(foreign) }?.kind == .serverCertificate)
      }
    }
  }

  @Test func `connections are kept apart by their roots`() async throws {
    try await NginxServer.with { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
        var foreign = Request.get(server.tls("/hello"))
        foreign.tls = TLSOptions()
        #expect(await failure { try await client.send(foreign) }?.kind == .serverCertificate)
        try await client.expect("hello", from: .get(server.tls("/hello")))
      }
    }
  }

  @Test func `a host that speaks no TLS is a handshake error`() async throws {
    let server = try ScriptedServer(script: [.send("220 hello\r\n"), .close])
    try await TestClient.with { client in
      let error = await failure { try await client.send(.get("https://127.0.0.1:\(server.port)/")) }
      #expect(error?.kind == .tlsHandshake)
    }
    await server.stop()
  }
}
