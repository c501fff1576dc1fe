import StreamCore
import Testing

@testable import Penstock

@Suite struct AuthChallengeTests {
  @Test func `several challenges in one field are told apart`() {
    let all = AuthChallenge.parse(
      #"Digest realm="a, b", qop="auth,auth-int", nonce="x\"y", Basic realm=simple, Negotiate TlRM==, Bearer"#
    )
    #expect(all.map(\.scheme) == ["digest", "basic", "negotiate", "bearer"])
    #expect(all[0].parameters == ["realm": "a, b", "qop": "auth,auth-int", "nonce": "x\"y"])
    #expect(all[1].parameters == ["realm": "simple"])
    #expect(all[2].token == "TlRM==")
    #expect(all[3].parameters.isEmpty)
  }

  @Test func `blanks around the equals sign and empty members are taken`() {
    let all = AuthChallenge.parse(",, Basic realm = \"a\" ,, charset=UTF-8 ,")
    #expect(all.count == 1)
    #expect(all[0].parameters == ["realm": "a", "charset": "UTF-8"])
  }

  @Test func `no cut of a field traps, and nothing is made up`() {
    let text = Array(#"Digest realm="a\"b", nonce=abc, Basic realm="c""#.utf8)
    for end in 0...text.count {
      let all = AuthChallenge.parse(String(decoding: text[..<end], as: UTF8.self))
      #expect(all.count <= 3)
      // Only whole parameters count: a cut quotation isn't one.
      for challenge in all {
        #expect(challenge.parameters["realm"].map { ["a\"b", "c"].contains($0) } ?? true)
      }
    }
  }

  @Test func `a bearer's refusal is read as RFC 6750 writes it`() throws {
    let headers: HTTPFields = [
      "WWW-Authenticate":
        #"Bearer realm="example", error="insufficient_scope", error_description="no", scope="a b""#
    ]
    let error = try #require(BearerError(headers))
    #expect(error.code == "insufficient_scope")
    #expect(error.text == "no")
    #expect(error.scopes == ["a", "b"])
    #expect(error.realm == "example")
    #expect(BearerError(["WWW-Authenticate": "Bearer realm=\"x\""]) == nil)
    #expect(BearerError([:]) == nil)
  }
}

@Suite struct DigestAnswerTests {
  private func challenge(_ text: String) throws -> DigestAnswer.Challenge {
    let parsed = try #require(AuthChallenge.parse(text).first)
    return try #require(DigestAnswer.Challenge(parsed))
  }

  private func answer(_ clientNonce: String, target: String = "/dir/index.html", password: String)
    -> DigestAnswer
  {
    DigestAnswer(
      user: "Mufasa", password: password, method: "GET", target: target, count: 1, clientNonce: clientNonce)
  }

  private let rfc7616 =
    #"realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#

  @Test(arguments: [
    ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
  ])
  func `the examples of RFC 7616 come out`(_ algorithm: String, _ expected: String) throws {
    let challenge = try challenge("Digest \(rfc7616), algorithm=\(algorithm)")
    let answer = answer("f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", password: "Circle of Life")
    #expect(try answer.response(to: challenge) == expected)
    let field = try answer.field(for: challenge)
    for part in [
      "username=\"Mufasa\"", "realm=\"http-auth@example.org\"", "uri=\"/dir/index.html\"",
      "algorithm=\(algorithm)", "nc=00000001", "qop=auth", "response=\"\(expected)\"",
      "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"",
    ] {
      #expect(field.contains(part), "\(part)")
    }
    #expect(!field.contains("Circle"))
  }

  @Test func `the example of RFC 2617 comes out, and so does the old form`() throws {
    let challenge = try challenge(
      #"Digest realm="testrealm@host.com", qop="auth", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#)
    let answer = answer("0a4f113b", password: "Circle Of Life")
    #expect(try answer.response(to: challenge) == "6629fae49393a05397450978507c4ef1")
    #expect(try !answer.field(for: challenge).contains("algorithm"))
    let old = try self.challenge(
      #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#)
    #expect(try answer.response(to: old) == "670fd8c2df070c60b045671b8b24ff02")
    #expect(try !answer.field(for: old).contains("cnonce"))
  }

  @Test func `SHA-512-256 is answered, with the hashed name of the RFC's erratum`() throws {
    let challenge = try challenge(
      #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", userhash=true"#
    )
    let answer = DigestAnswer(
      user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?", method: "GET", target: "/doe.json", count: 1,
      clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm")
    let field = try answer.field(for: challenge)
    // Errata 4897 of RFC 7616 has the name; the response was computed with Python's hashlib.
    #expect(field.contains("username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\""))
    #expect(field.contains("response=\"7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c\""))
    #expect(field.contains("algorithm=SHA-512-256"))
  }

  @Test func `auth-int covers the body, and is chosen only where auth isn't offered`() throws {
    let only = rfc7616.replacing("auth, auth-int", with: "auth-int")
    let challenge = try challenge("Digest \(only), algorithm=SHA-256")
    var answer = answer("f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", password: "Circle of Life")
    answer.method = "POST"
    answer.bodyDigest = HexDigits.encode(try BodyDigest.of(Array("hello".utf8), .sha256))
    let field = try answer.field(for: challenge)
    // Computed with Python's hashlib.
    #expect(field.contains("response=\"c98b95dbdb463c4483e324bced57d591946a6f84098142757b1333c52c47d62e\""))
    #expect(field.contains("qop=auth-int"))
    #expect(try self.challenge("Digest \(rfc7616)").protection == .head)
  }

  @Test func `session forms hash once more`() throws {
    let plain = try challenge("Digest \(rfc7616), algorithm=MD5")
    let session = try challenge("Digest \(rfc7616), algorithm=md5-SESS")
    let answer = answer("abc", password: "x")
    #expect(try answer.response(to: plain) != answer.response(to: session))
    #expect(try answer.field(for: session).contains("algorithm=MD5-sess"))
  }

  @Test func `the strongest challenge is answered, others are left`() throws {
    let all = AuthChallenge.parse(
      #"Digest realm="a", nonce="1", algorithm=MD5, Digest realm="a", nonce="2", algorithm=SHA-256, Digest realm="a", nonce="3", algorithm=SHA-999"#
    )
    #expect(DigestAnswer.Challenge.best(of: all)?.nonce == "2")
    #expect(
      DigestAnswer.Challenge.best(
        of: AuthChallenge.parse(#"Digest realm="a", nonce="1", qop="auth-conf", Basic realm="b""#)) == nil)
    #expect(DigestAnswer.Challenge.best(of: AuthChallenge.parse(#"Digest realm="a""#)) == nil)
  }

  @Test func `names and realms with quotes, umlauts and hashes`() throws {
    var answer = answer("c", password: "p")
    answer.user = #"a"b\"#
    let challenge = try challenge(#"Digest realm="q\"r", nonce="n", userhash=true"#)
    #expect(try answer.field(for: challenge).contains("userhash=true"))
    #expect(try answer.field(for: challenge).contains(#"realm="q\"r""#))
    let plain = try self.challenge(#"Digest realm="r", nonce="n""#)
    #expect(try answer.field(for: plain).contains(#"username="a\"b\\""#))
    answer.user = "Jäger"
    #expect(try answer.field(for: plain).contains("username*=UTF-8''J%C3%A4ger"))
  }
}
