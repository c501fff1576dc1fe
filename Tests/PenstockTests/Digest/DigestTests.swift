import Penstock
import StreamCore
import Testing

@Suite struct DigestTests {
  @Test(arguments: [
    (Digest.Algorithm.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (.md5, "900150983cd24fb0d6963f7d28e17f72"),
    (
      .sha512,
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ),
  ])
  func theKnownDigestOfABC(_ algorithm: Digest.Algorithm, _ hex: String) throws {
    let digest = try Digest.of(Array("abc".utf8), algorithm)
    #expect(digest.hex == hex)
    #expect(digest == Digest(algorithm, hex: hex.uppercased()))
    #expect(digest.bytes.count == algorithm.byteCount)
  }

  @Test func noBytesHaveADigest() throws {
    let hasher = try DigestHasher(.sha256)
    #expect(
      try hasher.finalize().hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test func piecesMakeTheSameDigestAsTheWhole() throws {
    let bytes = sampleText(1000)
    let whole = try Digest.of(bytes, .sha256)
    for cut in stride(from: 0, through: bytes.count, by: 37) {
      var hasher = try DigestHasher(.sha256)
      try hasher.update(BodyChunk(bytes[..<cut]))
      try hasher.update(Array(bytes[cut...]))
      #expect(try hasher.finalize() == whole)
    }
  }

  @Test func namesAreTakenInSeveralSpellings() {
    #expect(Digest.Algorithm(name: "SHA-256") == .sha256)
    #expect(Digest.Algorithm(name: "sha512") == .sha512)
    #expect(Digest.Algorithm(name: "sha-1") == .sha1)
    #expect(Digest.Algorithm(name: "MD5") == .md5)
    #expect(Digest.Algorithm(name: "crc32") == nil)
    #expect(Digest.Algorithm(name: "") == nil)
  }

  @Test func malformedHexIsNoDigest() {
    #expect(Digest(.md5, hex: "") == nil)
    #expect(Digest(.md5, hex: String(repeating: "0", count: 31)) == nil)
    #expect(Digest(.md5, hex: String(repeating: "g", count: 32)) == nil)
    #expect(Digest(.md5, hex: String(repeating: "é", count: 16)) == nil)
    #expect(Digest(.md5, bytes: [1]) == nil)
  }
}
