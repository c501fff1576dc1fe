import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// The test cases of RFC 9421, appendix B.
@Suite struct MessageSignatureTests {
  private static let p256 = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIFKbhfNZfpDsW43+0+JjUr9K+bTeuxopu653+hBaXGA7oAoGCCqGSM49
    AwEHoUQDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lfw0EkjqF7xB4FivAxzic30tMM
    4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
    -----END EC PRIVATE KEY-----
    """
  private static let p256Public = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
    w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
    -----END PUBLIC KEY-----
    """
  private static let ed25519 = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
    -----END PRIVATE KEY-----
    """
  private static let secret =
    "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="

  private var request: Request {
    Request.post(
      "https://example.com/foo?param=Value&Pet=dog",
      headers: ["Date": "Tue, 20 Apr 2021 02:07:55 GMT", "Content-Type": "application/json"],
      body: .string(#"{"hello": "world"}"#))
  }

  private func signature(
    _ key: MessageSignature.Key, _ keyID: String, _ label: String, _ components: [MessageSignature.Component]
  ) -> MessageSignature {
    var signature = MessageSignature(key: key, keyID: keyID, components: components)
    signature.label = label
    signature.clock.wall = { 1_618_884_473 }
    return signature
  }

  @Test func `B.2.5: a shared secret`() throws {
    let key = MessageSignature.Key.secret(try #require(Base64URL.decode(Self.secret)))
    let signed = try signature(key, "test-shared-secret", "sig-b25", ["date", "@authority", "content-type"])
      .sign(request)
    #expect(
      signed.input
        == #"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#)
    #expect(signed.signature == "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:")
  }

  @Test func `B.2.6: Ed25519`() throws {
    let key = MessageSignature.Key.signing(try SigningKey(pem: Self.ed25519))
    let signed = try signature(
      key, "test-key-ed25519", "sig-b26",
      ["date", "@method", "@path", "@authority", "content-type", "content-length"]
    ).sign(request)
    #expect(
      signed.signature
        == "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
    )
  }

  @Test func `B.2.4: ECDSA over P-256 is verified, and ours too`() throws {
    let base = """
      "@status": 200
      "content-type": application/json
      "content-digest": sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:
      "content-length": 23
      "@signature-params": ("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"
      """
    let published = try #require(
      Base64URL.decode(
        "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw=="))
    let verifying = try VerifyingKey(pem: Self.p256Public)
    #expect(verifying.verifies(published, of: Array(base.utf8)))
    #expect(!verifying.verifies(published, of: Array((base + " ").utf8)))
    let ours = try SigningKey(pem: Self.p256).signature(of: Array(base.utf8))
    #expect(verifying.verifies(ours, of: Array(base.utf8)))
  }

  @Test func `derived components are as in section 2.2`() throws {
    let request = Request.get(
      "https://www.example.com/path?param=value&foo=bar&baz=batman&qux=&p=a+b&p=c%20d",
      headers: ["X-A": "  one ", "X-A": "two"])
    let base = SignatureBase(
      components: [
        "@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query",
        .queryParameter("baz"), .queryParameter("qux"), .queryParameter("p"), "x-a",
      ],
      parameters: .init(created: 1, expires: 2, nonce: "n\"", algorithm: "a", keyID: "k", tag: "t"))
    let uri = "/path?param=value&foo=bar&baz=batman&qux=&p=a+b&p=c%20d"
    #expect(
      try base.text(of: request) == """
        "@method": GET
        "@target-uri": https://www.example.com\(uri)
        "@authority": www.example.com
        "@scheme": https
        "@request-target": \(uri)
        "@path": /path
        "@query": \(uri.dropFirst(5))
        "@query-param";name="baz": batman
        "@query-param";name="qux": 
        "@query-param";name="p": a%20b
        "@query-param";name="p": c%20d
        "x-a": one, two
        "@signature-params": ("@method" "@target-uri" "@authority" "@scheme" "@request-target" "@path" "@query" \
        "@query-param";name="baz" "@query-param";name="qux" "@query-param";name="p" "x-a")\
        ;created=1;expires=2;nonce="n\\"";alg="a";keyid="k";tag="t"
        """)
  }

  @Test func `what isn't there, or twice, is told by name`() {
    for components in [["x-none"], ["@method", "@method"], [.queryParameter("none")]]
      as [[MessageSignature.Component]]
    {
      let error = #expect(throws: HTTPError.self) {
        _ = try SignatureBase(components: components, parameters: .init()).text(of: request)
      }
      #expect(error?.kind == .invalidConfiguration)
    }
  }

  @Test func `content digests are as in RFC 9530`() throws {
    let body = Array(#"{"hello": "world"}"#.utf8)
    #expect(
      try ContentDigest.field(of: body) == "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:")
    #expect(
      try ContentDigest.field(of: body, [.sha512])
        == "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
    )
    let both = try ContentDigest.field(of: body, [.sha256, .sha512])
    #expect(try ContentDigest.matches(both, body) == true)
    #expect(try ContentDigest.matches(both, body + [1]) == false)
    #expect(try ContentDigest.matches("md5=:AAAA:, other=:x:", body) == nil)
    #expect(try ContentDigest.matches("sha-256=nonsense", body) == nil)
  }
}

@Suite struct DPoPTests {
  @Test func `the thumbprint of RFC 7638's kind is over the sorted members`() throws {
    // RFC 9449 §6.1: the key of its examples.
    let canonical =
      #"{"crv":"P-256","kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}"#
    #expect(try JSONWebKey.thumbprint(of: canonical) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
  }

  @Test(arguments: [SigningKey.Algorithm.p256, .ed25519])
  func `a proof tells method, URL, time, token and nonce, and is signed`(
    _ algorithm: SigningKey.Algorithm
  ) async throws {
    let key = try SigningKey.generate(algorithm)
    var clock = AuthClock.system
    clock.wall = { 1_562_262_616 }
    let proof = DPoPProof(key, clock: clock, tokenID: { "id" })
    let client = Client()
    let origin = try HTTPOrigin(of: "https://server.example.com/")
    var context = CredentialContext(client: client, origin: origin, hop: 0, resends: 0)
    let plain = Request.post(
      "https://server.example.com/token?a=b#c",
      headers: ["Authorization": "DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"])
    var request = plain
    try await proof.prove(&request, &context)
    let parts = try #require(request.headers["DPoP"]).split(separator: ".").map { String($0) }
    try #require(parts.count == 3)
    let header = try #require(WrittenJSON.parse(Base64URL.decode(parts[0]) ?? []))
    let payload = try #require(WrittenJSON.parse(Base64URL.decode(parts[1]) ?? []))
    #expect(header.at("typ")?.text == "dpop+jwt")
    #expect(header.at("alg")?.text == (algorithm == .p256 ? "ES256" : "EdDSA"))
    #expect(header.at("jwk.d") == nil)
    #expect(payload.at("htm")?.text == "POST")
    #expect(payload.at("htu")?.text == "https://server.example.com/token")
    #expect(payload.at("iat")?.integer == 1_562_262_616)
    // RFC 9449 §4.2's own token and hash.
    #expect(payload.at("ath")?.text == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    #expect(payload.at("nonce") == nil)
    let signature = try #require(Base64URL.decode(parts[2]))
    #expect(VerifyingKey(key).verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))

    let head = ResponseHead(
      status: 401, headers: ["DPoP-Nonce": "n1", "WWW-Authenticate": "DPoP error=\"use_dpop_nonce\""])
    #expect(try await proof.answered(head, to: request, context) == .resend)
    request = plain
    try await proof.prove(&request, &context)
    let second = try #require(request.headers["DPoP"]).split(separator: ".").map { String($0) }
    #expect(WrittenJSON.parse(Base64URL.decode(second[1]) ?? [])?.at("nonce")?.text == "n1")
    #expect(try await proof.answered(head, to: request, context) == .deliver)
  }
}

@Suite struct P256FileProviderTests {
  @Test func `one key for all who start at once, kept in a file of its owner`() async throws {
    let folder = try TestFolder()
    let ids = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<8 {
        group.addTask { try? await P256FileProvider(path: folder("key")).makeKey() }
      }
      return await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    let provider = P256FileProvider(path: folder("key"))
    let id = try await provider.makeKey()
    #expect(ids.contains(id))
    let key = try SigningKey(pem: try #require(folder.text("key")))
    let data = Array("data".utf8)
    #expect(VerifyingKey(key).verifies(try await provider.assert(keyID: id, clientData: data), of: data))
    let attestation = try #require(WrittenJSON.parse(try await provider.attest(keyID: id, clientData: data)))
    #expect(attestation.at("format")?.text == "penstock-p256")
    let error = await #expect(throws: HTTPError.self) {
      _ = try await provider.assert(keyID: "x", clientData: data)
    }
    #expect(error?.kind == .loginDenied)
  }
}

@Suite struct SingleFlightTests {
  private actor Gate {
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var isOpen = false
    private(set) var entered = 0
    func pass() async {
      entered += 1
      if isOpen { return }
      await withCheckedContinuation { waiters.append($0) }
    }
    func open() {
      isOpen = true
      for waiter in waiters { waiter.resume() }
      waiters = []
    }
  }

  @Test func `a cancelled waiter leaves alone, the others get the one outcome`() async throws {
    let flight = SingleFlight<Int>()
    let gate = Gate()
    let tasks = (0..<10).map { _ in
      Task { () -> Result<Int, HTTPError> in
        do throws(HTTPError) {
          return .success(
            try await flight.run { () async throws(HTTPError) in
              await gate.pass()
              return 7
            })
        } catch { return .failure(error) }
      }
    }
    while await gate.entered == 0 { await Task.yield() }
    tasks[3].cancel()
    let left = await tasks[3].value
    #expect(throws: HTTPError.self) { try left.get() }
    await gate.open()
    for (index, task) in tasks.enumerated() where index != 3 { #expect(try await task.value.get() == 7) }
  }
}
