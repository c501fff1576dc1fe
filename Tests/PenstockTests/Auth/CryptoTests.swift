import Penstock
import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct CryptoTests {
  @Test func `HMAC-SHA-256 gives the codes of RFC 4231`() throws {
    let code = try HMACSHA256.authenticate(
      Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(HexDigits.encode(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let first = try HMACSHA256.authenticate(Array("Hi There".utf8), key: [UInt8](repeating: 0x0B, count: 20))
    #expect(HexDigits.encode(first) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
  }

  @Test func `an empty key and message have a code`() throws {
    #expect(
      HexDigits.encode(try HMACSHA256.authenticate([], key: []))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test(arguments: [SigningKey.Algorithm.p256, .ed25519])
  func `a key signs, exports and reads back`(_ algorithm: SigningKey.Algorithm) throws {
    let key = try SigningKey.generate(algorithm)
    let message = Array("message".utf8)
    let signature = try key.signature(of: message)
    #expect(signature.count == 64)
    let verifying = VerifyingKey(key)
    #expect(verifying.verifies(signature, of: message))
    #expect(!verifying.verifies(signature, of: Array("massage".utf8)))
    #expect(!verifying.verifies(Array(signature.dropLast()), of: message))
    let again = try SigningKey(pem: try key.exportPEM())
    #expect(again.algorithm == algorithm)
    #expect(try again.publicKey() == key.publicKey())
    #expect(VerifyingKey(again).verifies(signature, of: message))
    let publicBytes = try key.publicKey()
    #expect(publicBytes.count == (algorithm == .p256 ? 65 : 32))
  }

  @Test func `what is no key is refused, its text untold`() {
    for text in ["", "secret-text", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
      let error = #expect(throws: HTTPError.self) { _ = try SigningKey(pem: text) }
      #expect(error?.kind == .invalidConfiguration)
      #expect(error?.description.contains("secret-text") == false)
    }
  }

  @Test func `signatures convert between DER and raw, whatever their leading bytes`() throws {
    let key = try SigningKey.generate(.p256)
    for index in 0..<200 {
      let der = try key.signatureDER(of: [UInt8(index)])
      let raw = try #require(ECDSASignature.raw(fromDER: der))
      #expect(raw.count == 64)
      #expect(ECDSASignature.der(fromRaw: raw) == der)
      for cut in 0..<der.count { #expect(ECDSASignature.raw(fromDER: Array(der[..<cut])) == nil) }
    }
    #expect(ECDSASignature.der(fromRaw: [1, 2]) == nil)
  }

  @Test func `base64url reads back every length`() {
    var random = SeededGenerator(seed: 7)
    for length in 0..<70 {
      let bytes = random.bytes(length)
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
      #expect(Base64URL.decode(Base64.encode(bytes)) == bytes)
    }
    #expect(Base64URL.decode("a") == nil)
    #expect(Base64URL.decode("a b=") == nil)
    #expect(Base64URL.decode("YQ=x") == nil)
  }
}

@Suite struct WrittenJSONTests {
  private func parse(_ text: String) -> WrittenJSON? { WrittenJSON.parse(Array(text.utf8)) }

  @Test func `values are read and written with sorted names`() {
    let node = parse(#" { "b" : [1, -2.5e3, true, null], "a" : {"x":"\u00e4\ud83d\ude00\n\"" } } "#)
    #expect(node?.sorted == "{\"a\":{\"x\":\"ä😀\\u000a\\\"\"},\"b\":[1,-2.5e3,true,null]}")
    #expect(node?.at("a.x")?.text == "ä😀\n\"")
    #expect(node?.at("a.y") == nil)
    #expect(parse("{\"a.b\":\"c\"}")?.at("a.b")?.text == "c")
    #expect(parse("{\"n\":\"12\",\"m\":3.9}")?.at("n")?.integer == 12)
    #expect(parse("{\"n\":\"12\",\"m\":3.9}")?.at("m")?.integer == 3)
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "tru", "\"\u{1}\"", "\"\\ud800\"", "\"\\x\"", "1 2", "+1", "1.",
    "\"a", "{1:2}", "nan", "-",
  ])
  func `what is no JSON is nil`(_ text: String) { #expect(parse(text) == nil) }

  @Test func `any cut of a text is nil`() {
    let text = Array(#"{"a":[1,{"b":"cé"}],"d":false}"#.utf8)
    #expect(WrittenJSON.parse(text) != nil)
    for end in 0..<text.count { #expect(WrittenJSON.parse(Array(text[..<end])) == nil) }
  }

  @Test func `deep nesting doesn't use up the stack`() {
    let text = String(repeating: "[", count: 100_000)
    #expect(parse(text) == nil)
    #expect(parse(text + String(repeating: "]", count: 100_000)) == nil)
  }
}
