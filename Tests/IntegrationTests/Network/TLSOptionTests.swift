import Foundation
import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Every option of TLS against a real server.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Tool.hasNginx, "needs nginx and openssl")) struct TLSOptionTests
{
  private static let wrongPin = "sha256//" + String(repeating: "A", count: 43) + "="

  // MARK: roots

  @Test(arguments: ["file", "directory", "bytes"]) func `further roots`(kind: String) async throws {
    let root = try await Certificates.shared().root
    let files = try await AuthorityFiles.shared()
    try await NginxServer.with { server in
      let source: PEMSource
      switch kind {
      case "file": source = .file(root)
      case "directory": source = .directory(files.directory)
      default: source = .bytes(try [UInt8](Data(contentsOf: URL(fileURLWithPath: root))))
      }
      try await TestClient.with({ $0.tls.extraRoots = [source] }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
        try await client.expect("hello", from: .get(server.http2("/hello")))
      }
      try await TestClient.with { client in
        let error = await failure { try await client.send(.get(server.tls("/hello"))) }
        #expect(error?.certificateProblem == .untrusted)
      }
    }
  }

  @Test func `roots that can't be read, or are none, fail before anything is sent`() async throws {
    let directory = try TemporaryDirectory()
    let text = try directory.write("no-certificate.pem", "hello\n")
    func refused(_ edit: (inout TLSOptions) -> Void, _ words: String) async throws {
      try await TestClient.with({ edit(&$0.tls) }) { client in
        let error = await failure { try await client.send(.get("https://127.0.0.1:1/")) }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.phase == .queue)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      }
    }
    try await refused({ $0.caFile = directory.file("none") }, "tls.caFile")
    try await refused({ $0.caFile = text }, "tls.caFile")
    try await refused({ $0.extraRoots = [.file(directory.file("none"))] }, "tls.extraRoots")
    try await refused({ $0.extraRoots = [.directory(directory.path)] }, "tls.extraRoots")
    try await refused({ $0.extraRoots = [.bytes([1, 2, 3])] }, "tls.extraRoots")
    try await refused({ $0.revocationList = directory.file("none") }, "tls.revocationList")
    try await refused({ $0.pinnedKeys = ["sha256//short"] }, "tls.pinnedKeys")
    try await refused({ $0.ciphers = ["a b"] }, "tls.ciphers")
    try await refused(
      {
        $0.minimumVersion = .v1_3
        $0.maximumVersion = .v1_2
      }, "tls.minimumVersion")
    try await refused({ $0.identity = ClientIdentity(.pem(certificate: [1], key: [])) }, "tls.identity.key")
  }

  // MARK: what is wrong with a certificate

  @Test func `an expired certificate, and one whose time has not begun`() async throws {
    let files = try await AuthorityFiles.shared()
    for (pair, problem) in [
      (files.expired, CertificateProblem.expired), (files.notYetValid, .notYetValid),
    ] {
      try await NginxServer.with(certificate: pair) { server in
        try await TestClient.trusting { client in
          let error = await failure { try await client.send(.get(server.tls("/hello"))) }
          #expect(error?.kind == .serverCertificate)
          #expect(error?.certificateProblem == problem)
        }
      }
    }
  }

  @Test func `a revoked certificate is refused with the list, and taken without`() async throws {
    let files = try await AuthorityFiles.shared()
    try await NginxServer.with(certificate: files.revoked) { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
        var strict = Request.get(server.tls("/hello"))
        strict.tls = client.configuration.tls
        strict.tls?.revocationList = files.revocationList
        let error = await failure { try await client.send(strict) }
        #expect(error?.kind == .serverCertificate)
        #expect(error?.certificateProblem == .revoked)
      }
    }
    try await NginxServer.with { server in
      try await TestClient.trusting({ $0.tls.revocationList = files.revocationList }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
      }
    }
  }

  @Test func `a stapled status that is required and missing`() async throws {
    try await NginxServer.with { server in
      try await TestClient.trusting({ $0.tls.requiresStapledStatus = true }) { client in
        let error = await failure { try await client.send(.get(server.tls("/hello"))) }
        #expect(error?.kind == .serverCertificate)
        #expect(error?.certificateProblem == .unknownStatus)
      }
    }
  }

  @Test func `a stapled status says that a certificate is good, or revoked`() async throws {
    let files = try await AuthorityFiles.shared()
    for (pair, status, isGood) in [
      (files.goodChain, files.goodStatus, true), (files.revokedChain, files.revokedStatus, false),
    ] {
      try await NginxServer.with(
        certificate: pair, extra: "ssl_stapling on; ssl_stapling_file \(status);"
      ) { server in
        try await TestClient.trusting({ $0.tls.requiresStapledStatus = true }) { client in
          if isGood { return try await client.expect("hello", from: .get(server.tls("/hello"))) }
          let error = await failure { try await client.send(.get(server.tls("/hello"))) }
          #expect(error?.kind == .serverCertificate, "\(String(describing: error))")
          #expect(error?.certificateProblem == .revoked)
        }
      }
    }
  }

  @Test func `names, trust and time are told apart`() async throws {
    let certificates = try await Certificates.shared()
    for (pair, problem) in [
      (certificates.other, CertificateProblem.nameMismatch), (certificates.selfSigned, .untrusted),
    ] {
      try await NginxServer.with(certificate: pair) { server in
        try await TestClient.trusting { client in
          let error = await failure { try await client.send(.get(server.http2("/hello"))) }
          #expect(error?.certificateProblem == problem)
        }
      }
    }
  }

  // MARK: versions, ciphers, pins

  @Test func `versions`() async throws {
    try await NginxServer.with(extra: "ssl_protocols TLSv1.2;") { server in
      try await TestClient.trusting({ $0.tls.maximumVersion = .v1_2 }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
      }
      try await TestClient.trusting({ $0.tls.minimumVersion = .v1_3 }) { client in
        let error = await failure { try await client.send(.get(server.tls("/hello"))) }
        #expect(error?.kind == .tlsHandshake)
        #expect(error?.certificateProblem == nil)
      }
    }
  }

  @Test func `ciphers`() async throws {
    let extra = "ssl_protocols TLSv1.2 TLSv1.3; location = /cipher { return 200 $ssl_cipher; }"
    try await NginxServer.with(extra: extra) { server in
      try await TestClient.trusting({ $0.tls.tls13Ciphers = ["TLS_CHACHA20_POLY1305_SHA256"] }) { client in
        try await client.expect("TLS_CHACHA20_POLY1305_SHA256", from: .get(server.tls("/cipher")))
      }
      try await TestClient.trusting({
        $0.tls.maximumVersion = .v1_2
        $0.tls.ciphers = ["ECDHE-ECDSA-AES128-GCM-SHA256"]
      }) { client in
        try await client.expect("ECDHE-ECDSA-AES128-GCM-SHA256", from: .get(server.tls("/cipher")))
      }
      try await TestClient.trusting({ $0.tls.ciphers = ["NO-SUCH-CIPHER"] }) { client in
        #expect(await failure { try await client.send(.get(server.tls("/cipher"))) }?.kind == .tlsHandshake)
      }
    }
  }

  @Test func `pinned keys, also without other checks`() async throws {
    let pin = try await AuthorityFiles.shared().localPin
    try await NginxServer.with { server in
      try await TestClient.trusting({ $0.tls.pinnedKeys = [Self.wrongPin, pin] }) { client in
        try await client.expect("hello", from: .get(server.tls("/hello")))
      }
      try await TestClient.with({
        $0.tls.verifiesName = false
        $0.tls.verifiesTrust = false
        $0.tls.pinnedKeys = [Self.wrongPin]
      }) { client in
        let error = await failure { try await client.send(.get(server.tls("/hello"))) }
        #expect(error?.kind == .pinnedKeyMismatch)
        #expect(error?.mayHaveBeenProcessed == false)
      }
    }
  }

  @Test func `without ALPN HTTP/1.1 is spoken`() async throws {
    try await NginxServer.with { server in
      try await TestClient.trusting({ $0.tls.offersALPN = false }) { client in
        let response = try await client.send(.get(server.http2("/hello")))
        #expect(response.version == .http1_1)
      }
    }
  }

  // MARK: client certificates

  @Test(arguments: ["files", "pem", "pkcs12File", "pkcs12"]) func `a client's certificate`(
    kind: String
  ) async throws {
    let root = try await Certificates.shared().root
    let files = try await AuthorityFiles.shared()
    func bytes(_ path: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) }
    let identity =
      switch kind {
      case "files": ClientIdentity(.files(certificate: files.alice.certificate, key: files.alice.key))
      case "pem":
        ClientIdentity(.pem(certificate: try bytes(files.alice.certificate), key: try bytes(files.alice.key)))
      case "pkcs12File": ClientIdentity(.pkcs12File(files.pkcs12), password: "open sesame")
      default: ClientIdentity(.pkcs12(try bytes(files.pkcs12)), password: "open sesame")
      }
    let extra =
      "ssl_client_certificate \(root); ssl_verify_client on; location = /who { return 200 $ssl_client_s_dn; }"
    try await NginxServer.with(extra: extra) { server in
      try await TestClient.trusting({ $0.tls.identity = identity }) { client in
        try await client.expect("CN=alice", from: .get(server.tls("/who")))
        try await client.expect("CN=alice", from: .get(server.http2("/who")))
      }
    }
  }

  @Test func `a certificate that can't be used is an error of its own`() async throws {
    let files = try await AuthorityFiles.shared()
    let directory = try TemporaryDirectory()
    let bad: [ClientIdentity] = [
      ClientIdentity(.files(certificate: files.alice.certificate, key: directory.file("none"))),
      ClientIdentity(.files(certificate: files.alice.certificate, key: files.bob.key)),
      ClientIdentity(.pkcs12File(files.pkcs12), password: "not the password"),
      ClientIdentity(.pem(certificate: [1, 2, 3], key: [1, 2, 3])),
    ]
    try await NginxServer.with { server in
      for identity in bad {
        try await TestClient.trusting({ $0.tls.identity = identity }) { client in
          let error = await failure { try await client.send(.get(server.tls("/hello"))) }
          #expect(error?.kind == .clientCertificate, "\(String(describing: error))")
          #expect(error?.description.contains("not the password") != true)
        }
      }
    }
  }

  // MARK: rule 11

  private func variants() async throws -> [(String, (inout TLSOptions) -> Void)] {
    let certificates = try await Certificates.shared()
    let files = try await AuthorityFiles.shared()
    let copy = certificates.directory.file("ca-copy.pem")
    try? FileManager.default.copyItem(atPath: certificates.root, toPath: copy)
    return [
      ("verifiesTrust", { $0.verifiesTrust = false }), ("verifiesName", { $0.verifiesName = false }),
      ("caFile", { $0.caFile = copy }), ("extraRoots", { $0.extraRoots = [.file(certificates.root)] }),
      ("extraRoots 2", { $0.extraRoots = [.file(copy)] }),
      (
        "identity",
        { $0.identity = ClientIdentity(.files(certificate: files.alice.certificate, key: files.alice.key)) }
      ),
      (
        "identity 2",
        { $0.identity = ClientIdentity(.files(certificate: files.bob.certificate, key: files.bob.key)) }
      ),
      ("pkcs12", { $0.identity = ClientIdentity(.pkcs12File(files.pkcs12), password: "open sesame") }),
      ("minimumVersion", { $0.minimumVersion = .v1_3 }), ("maximumVersion", { $0.maximumVersion = .v1_2 }),
      ("ciphers", { $0.ciphers = ["ECDHE-ECDSA-AES128-GCM-SHA256"] }),
      ("tls13Ciphers", { $0.tls13Ciphers = ["TLS_CHACHA20_POLY1305_SHA256"] }),
      ("pinnedKeys", { $0.pinnedKeys = [files.localPin] }),
      ("revocationList", { $0.revocationList = files.revocationList }),
    ]
  }

  @Test(arguments: [false, true]) func `each option of TLS has connections of its own`(
    http2: Bool
  ) async throws {
    let variants = try await variants()
    try await NginxServer.with(extra: "ssl_protocols TLSv1.2 TLSv1.3;") { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        let url = http2 ? server.http2("/hello") : server.tls("/hello")
        var locals: [String: String] = [:]
        // All plain ones first, so that each variant finds every connection that it must not use.
        func connection(_ edit: (inout TLSOptions) -> Void) async throws -> ExchangeFacts.Connection {
          var request = Request.get(url)
          request.tls = client.configuration.tls
          if var tls = request.tls {
            edit(&tls)
            request.tls = tls
          }
          let response = try await client.send(request)
          _ = try await response.body.drain()
          return response.facts.connection
        }
        locals["standard"] = try await connection { _ in }.local
        for (name, edit) in variants {
          let first = try await connection(edit)
          #expect(!first.reused, "\(name)")
          #expect(!locals.values.contains(first.local), "\(name)")
          locals[name] = first.local
        }
        // And each finds its own again.
        for (name, edit) in variants {
          let second = try await connection(edit)
          #expect(second.reused, "\(name)")
          #expect(second.local == locals[name], "\(name)")
        }
      }
    }
  }

  // MARK: the chain

  @Test(arguments: [false, true]) func `the chain is there on a new connection and on a kept one`(
    http2: Bool
  ) async throws {
    try await NginxServer.with { server in
      try await TestClient.trusting({ $0.tls.keepsCertificates = true }) { client in
        for isReused in [false, true] {
          let response = try await client.send(.get(http2 ? server.http2("/hello") : server.tls("/hello")))
          _ = try await response.body.drain()
          #expect(response.facts.connection.reused == isReused)
          let certificate = response.facts.connection.certificates.first
          #expect(certificate?.subject.contains("localhost") == true)
          #expect(certificate?.issuer.contains("Penstock Test Authority") == true)
          #expect(certificate?.pem.contains("BEGIN CERTIFICATE") == true)
          #expect(certificate?.alternativeNames.contains("DNS:localhost") == true)
        }
      }
      try await TestClient.trusting { client in
        let response = try await client.send(.get(server.tls("/hello")))
        #expect(response.facts.connection.certificates.isEmpty)
      }
    }
  }
}
