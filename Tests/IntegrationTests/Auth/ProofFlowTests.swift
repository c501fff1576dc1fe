import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@Suite struct ProofFlowTests {
  private struct Away: AttestationProvider {
    func unavailability() async -> String? { "there is no such device" }
    func makeKey() async throws(HTTPError) -> String { "" }
    func attest(keyID: String, clientData: [UInt8]) async throws(HTTPError) -> [UInt8] { [] }
    func assert(keyID: String, clientData: [UInt8]) async throws(HTTPError) -> [UInt8] { [] }
  }

  private static func server() throws -> ScriptedServer {
    let count = Mutex(0)
    return try ScriptedServer { request in
      switch request.target {
      case "/challenge":
        let number = count.withLock { number -> Int in
          number += 1
          return number
        }
        return [.response(body: #"{"challenge":"c\#(number)"}"#)]
      case "/register": return [.response(body: "{}")]
      default: return [.response(body: "ok")]
      }
    }
  }

  private func proof(
    _ server: ScriptedServer, _ provider: any AttestationProvider,
    _ edit: (inout AttestationProof.Options) -> Void = { _ in }
  ) -> AttestationProof {
    var options = AttestationProof.Options(
      challengeURL: server.url("/challenge"), registerURL: server.url("/register"))
    edit(&options)
    return AttestationProof(options, provider: provider)
  }

  @Test func `challenge, one registration, then an assertion on each request`() async throws {
    let folder = try TestFolder()
    let server = try Self.server()
    let proof = proof(server, P256FileProvider(path: folder("key")))
    try await TestClient.with({
      $0.credentials = [ScopedCredential(.bearer("tok"), for: OriginPattern(server.url))]
      $0.proofs = [ScopedProof(proof, for: OriginPattern(server.url))]
    }) { client in
      try await withThrowingTaskGroup(of: String.self) { group in
        for index in 0..<20 {
          group.addTask {
            try await client.text(.post(server.url("/do?b=\(index)&a=1"), body: .string("body")))
          }
        }
        for try await text in group { #expect(text == "ok") }
      }
      let requests = server.requests
      #expect(requests.count { $0.target == "/register" } == 1)
      #expect(requests.count { $0.target == "/challenge" } == 21)
      for request in requests { #expect(request.value(of: "Authorization") == "Bearer tok") }
      let register = try #require(requests.first { $0.target == "/register" })
      #expect(register.text.contains("attestationObject") && register.text.contains("keyId"))
      #expect(register.value(of: "X-App-Attest-Assertion") == nil)
      #expect(requests.filter { $0.target == "/challenge" }.allSatisfy { $0.text.contains("purpose") })

      let key = try SigningKey(pem: try #require(folder.text("key")))
      var challenges: Set<String> = []
      for request in requests where request.target.hasPrefix("/do") {
        let data = Array(try #require(base64(request.value(of: "X-App-Attest-Client-Data"))))
        let assertion = Array(try #require(base64(request.value(of: "X-App-Attest-Assertion"))))
        #expect(VerifyingKey(key).verifies(assertion, of: data))
        let text = String(decoding: data, as: UTF8.self)
        #expect(
          text.hasPrefix(#"{"bodySHA256":"Iw2DWMysf0v1M5MVzHpvAoE4Y7v79RitrpGY9L3AvbM=","challenge":"c"#)
            || text.hasPrefix(#"{"bodySHA256":""#))
        #expect(text.contains(#""method":"POST","path":"/do","query":"a=1&b="#))
        challenges.insert(String(text.split(separator: "\"")[7]))
      }
      #expect(challenges.count == 20)
      _ = try await client.text(Request.get(server.url("/plain")).withoutProofs())
      #expect(server.requests.last?.value(of: "X-App-Attest-Assertion") == nil)
    }
    await server.stop()
  }

  private func base64(_ text: String?) -> [UInt8]? {
    guard let text else { return nil }
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var bytes: [UInt8] = []
    var bits = 0
    var group = 0
    for byte in text.utf8 where byte != UInt8(ascii: "=") {
      guard let value = alphabet.firstIndex(of: byte) else { return nil }
      group = (group << 6 | value) & 0xFFFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(group >> bits & 255))
      }
    }
    return bytes
  }

  @Test func `what isn't available is skipped or fails, as was said`() async throws {
    let server = try Self.server()
    for (unavailable, kind) in [(UnavailableProof.skip, nil), (.fail, .loginDenied)]
      as [(UnavailableProof, HTTPError.Kind?)]
    {
      let proof = proof(server, Away())
      try await TestClient.with({
        $0.proofs = [ScopedProof(proof, for: OriginPattern(server.url), unavailable: unavailable)]
      }) { client in
        let got1 = await failure { try await client.text(.get(server.url("/"))) }?.kind
        #expect(got1 == kind)
      }
    }
    #expect(server.requests.count == 1)
    await server.stop()
  }

  @Test(arguments: [
    (ProofPair.Mode.fallback, true, [true, false]), (.fallback, false, [false, true]),
    (.always, true, [true, true]), (.always, false, [false, true]), (.only, true, [false, true]),
  ])
  func `two proofs go together as their mode says`(
    _ mode: ProofPair.Mode, _ isAvailable: Bool, _ expected: [Bool]
  ) async throws {
    let folder = try TestFolder()
    let server = try Self.server()
    let provider: any AttestationProvider = isAvailable ? P256FileProvider(path: folder("key")) : Away()
    let pair = ProofPair(
      proof(server, provider), TokenProof { () async throws(HTTPError) in "dev" }, mode: mode)
    try await TestClient.with({ $0.proofs = [ScopedProof(pair, for: OriginPattern(server.url))] }) { client in
      _ = try await client.text(.get(server.url("/x")))
      let request = try #require(server.requests.last)
      #expect((request.value(of: "X-App-Attest-Assertion") != nil) == expected[0])
      #expect((request.value(of: "X-DeviceCheck-Token") == "dev") == expected[1])
    }
    await server.stop()
  }

  @Test func `names of fields are one's own, and a key that the server forgot is registered anew`()
    async throws
  {
    let folder = try TestFolder()
    let forgets = Atomic(true)
    let server = try ScriptedServer { request in
      if request.target.hasPrefix("/challenge") { return [.response(body: #"{"d":{"c":"x"}}"#)] }
      if request.target == "/register" { return [.response(body: "")] }
      return forgets.exchange(false, ordering: .relaxed) ? [.response(status: 409)] : [.response(body: "ok")]
    }
    let proof = proof(server, P256FileProvider(path: folder("key"))) { options in
      options.fields.keyID = "K"
      options.fields.assertion = "A"
      options.fields.clientData = "D"
      options.challengeMethod = .get
      options.challengeField = "d.c"
      options.unknownKeyStatuses = [409]
    }
    try await TestClient.with({ $0.proofs = [ScopedProof(proof, for: OriginPattern(server.url))] }) {
      client in
      let got2 = try await client.text(.get(server.url("/")))
      #expect(got2 == "ok")
      #expect(
        server.requests.map(\.target) == [
          "/challenge?purpose=registration", "/register", "/challenge?purpose=assertion", "/",
          "/challenge?purpose=registration", "/register", "/challenge?purpose=assertion", "/",
        ])
      let last = try #require(server.requests.last)
      for name in ["K", "A", "D"] { #expect(last.value(of: name) != nil) }
    }
    await server.stop()
  }

  @Test func `a nonce that a server wants is given, and kept for the next request`() async throws {
    let server = try ScriptedServer { request in
      let proof = request.value(of: "DPoP")?.split(separator: ".") ?? []
      let hasNonce = proof.count == 3 && proof[1].utf8.count > 130
      return hasNonce
        ? [.response(body: "ok")]
        : [
          .response(
            status: 401,
            fields: [
              ("DPoP-Nonce", "nonce-of-the-server"), ("WWW-Authenticate", "DPoP error=\"use_dpop_nonce\""),
            ])
        ]
    }
    let key = try SigningKey.generate(.p256)
    try await TestClient.with({ $0.proofs = [ScopedProof(DPoPProof(key), for: OriginPattern(server.url))] }) {
      client in
      for _ in 0..<2 {
        let got3 = try await client.text(.get(server.url("/")))
        #expect(got3 == "ok")
      }
      #expect(server.requests.count <= 3)
    }
    await server.stop()
  }

  @Test func `a coded body is signed as it goes out, with the type that it tells`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let signature = MessageSignature(
      key: .secret([1]), components: ["content-type", "content-encoding", "content-digest"])
    try await TestClient.with({
      $0.proofs = [ScopedProof(signature, for: OriginPattern(server.url))]
    }) { client in
      var request = Request.post(
        server.url("/"), body: .string(String(repeating: "abc", count: 50)).typed("text/x-test"))
      request.bodyCoding = .gzip
      _ = try await client.text(request)
      let sent = try #require(server.requests.first)
      #expect(sent.body.starts(with: [0x1F, 0x8B]))
      #expect(sent.values(of: "Content-Type") == ["text/x-test"])
      #expect(sent.values(of: "Content-Encoding") == ["gzip"])
      let digest = try #require(sent.value(of: "Content-Digest"))
      let matches = try ContentDigest.matches(digest, sent.body)
      #expect(matches == true)
    }
    await server.stop()
  }

  @Test func `signatures go on the request that is sent, after its credential`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    var signature = MessageSignature(
      key: .secret([1, 2, 3]), keyID: "k",
      components: ["@method", "@path", "authorization", "content-digest"])
    signature.tellsAlgorithm = true
    let made = signature
    try await TestClient.with({
      $0.credentials = [ScopedCredential(.bearer("t"), for: OriginPattern(server.url))]
      $0.proofs = [ScopedProof(made, for: OriginPattern(server.url))]
    }) { client in
      _ = try await client.text(.post(server.url("/p"), body: .string("abc")))
      let request = try #require(server.requests.first)
      #expect(
        request.value(of: "Content-Digest") == "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")
      #expect(
        request.value(of: "Signature-Input")?.hasPrefix(
          #"sig1=("@method" "@path" "authorization" "content-digest");created="#) == true)
      #expect(request.value(of: "Signature")?.hasPrefix("sig1=:") == true)
    }
    await server.stop()
  }
}

@Suite struct OAuthFlowTests {
  @Test func `client credentials get the first token and the next one, by Basic and by form`() async throws {
    let issued = Atomic(0)
    let server = try ScriptedServer { request in
      if request.target == "/token" {
        let number = issued.add(1, ordering: .relaxed).newValue
        return [.response(body: #"{"access_token":"a\#(number)","token_type":"Bearer","expires_in":3600}"#)]
      }
      let isFresh = request.value(of: "Authorization") == "Bearer a2"
      return [.response(status: isFresh ? 200 : 401, body: "ok")]
    }
    for (authentication, expected) in [
      (OAuth2Client.Authentication.basic, "Basic aWQlM0ExOnMlMkYy"), (.post, nil),
    ]
      as [(OAuth2Client.Authentication, String?)]
    {
      issued.store(0, ordering: .relaxed)
      let before = server.requests.count
      let oauth = OAuth2Client(
        tokenURL: server.url("/token"), clientID: "id:1", clientSecret: "s/2", authentication: authentication)
      var options = SessionOptions()
      options.refresher = .clientCredentials(oauth, scope: "read write")
      let auth = SessionAuthenticator(options: options)
      try await TestClient.with({ $0.credentials = [ScopedCredential(auth, for: OriginPattern(server.url))] })
      {
        client in
        let got4 = try await client.send(.get(server.url("/"))).status
        #expect(got4 == 200)
        let requests = server.requests[before...]
        #expect(requests.map(\.target) == ["/token", "/", "/token", "/"])
        let first = try #require(requests.first)
        #expect(first.value(of: "Authorization") == expected)
        let form = "grant_type=client_credentials&scope=read%20write"
        #expect(first.text == form + (expected == nil ? "&client_id=id%3A1&client_secret=s%2F2" : ""))
      }
    }
    await server.stop()
  }

  @Test func `a code is exchanged, a refusal tells its reason and no secret`() async throws {
    let server = try ScriptedServer { request in
      request.text.contains("code=good")
        ? [.response(body: #"{"access_token":"a","refresh_token":"r","token_type":"DPoP"}"#)]
        : [
          .response(
            status: 400, body: #"{"error":"invalid_grant","error_description":"code bad-secret is unknown"}"#)
        ]
    }
    let oauth = OAuth2Client(tokenURL: server.url("/token"), clientID: "public")
    try await TestClient.with { client in
      let pkce = try PKCE()
      let token = try await oauth.exchange(code: "good", redirectURI: "app:/cb", pkce: pkce, using: client)
      #expect(token.session == Session(token: "a", refreshToken: "r", scheme: "DPoP"))
      #expect(server.requests.first?.text.contains("code_verifier=\(pkce.exportVerifier())") == true)
      #expect(server.requests.first?.text.hasSuffix("&client_id=public") == true)
      let error = await failure {
        try await oauth.exchange(code: "bad-secret", redirectURI: "app:/cb", pkce: nil, using: client)
      }
      #expect(error?.kind == .loginDenied)
      #expect(error?.code == 67)
      #expect(error?.message.contains("invalid_grant") == true)
      #expect(error?.description.contains("bad-secret") == false)
    }
    await server.stop()
  }

  @Test func `a device waits until a person has agreed`() async throws {
    let asked = Atomic(0)
    let server = try ScriptedServer { request in
      if request.target == "/device" {
        return [
          .response(
            body:
              #"{"device_code":"d","user_code":"U","verification_uri":"https://e.x","expires_in":60,"interval":1}"#
          )
        ]
      }
      switch asked.add(1, ordering: .relaxed).newValue {
      case 1: return [.response(status: 400, body: #"{"error":"authorization_pending"}"#)]
      default: return [.response(body: #"{"access_token":"a"}"#)]
      }
    }
    let oauth = OAuth2Client(tokenURL: server.url("/token"), clientID: "tv")
    try await TestClient.with { client in
      let device = try await oauth.requestDeviceCode(endpoint: server.url("/device"), using: client)
      #expect(device.userCode == "U")
      let token = try await oauth.waitForToken(device, using: client)
      #expect(token.accessToken == "a")
      #expect(server.requests.last?.text.contains("device_code=d") == true)
      #expect(asked.load(ordering: .relaxed) == 2)
    }
    await server.stop()
  }
}
