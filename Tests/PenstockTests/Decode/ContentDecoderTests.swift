import Penstock
import StreamCore
import Testing

@Suite struct ContentDecoderTests {
  static let text = sampleText(600)

  static let bodies: [(name: String, body: [UInt8], codings: [ContentCoding])] = [
    ("gzip", Deflater.gzip(text), [.gzip]),
    ("gzip, stored", Deflater.gzip(text, level: 0), [.gzip]),
    ("deflate, zlib", Deflater.zlib(text), [.deflate]),
    ("deflate, raw", Deflater.raw(text), [.deflate]),
    ("deflate, raw, stored", Deflater.raw(text, level: 0), [.deflate]),
    (
      "two members", Deflater.gzip(Array(text.prefix(200))) + Deflater.gzip(Array(text.dropFirst(200))),
      [.gzip]
    ),
    ("empty members between", Deflater.gzip([]) + Deflater.gzip(text) + Deflater.gzip([]), [.gzip]),
    ("gzip of deflate", Deflater.gzip(Deflater.zlib(text)), [.deflate, .gzip]),
    (
      "deflate of gzip of raw", Deflater.zlib(Deflater.gzip(Deflater.raw(text))), [.deflate, .gzip, .deflate]
    ),
  ]

  @Test(arguments: bodies.indices)
  func aBodyDecodesTheSameWhateverItsCut(_ index: Int) {
    let (_, body, codings) = Self.bodies[index]
    for cut in 0...body.count {
      let result = decode([Array(body[..<cut]), Array(body[cut...])], codings)
      #expect(result == .success(Self.text), "cut at \(cut)")
    }
    #expect(decode(body.map { [$0] }, codings) == .success(Self.text))
  }

  @Test(arguments: bodies.indices)
  func aCutBodyIsTruncatedWhateverTheLength(_ index: Int) {
    let (name, body, codings) = Self.bodies[index]
    // The end of a member is a complete body too.
    var complete: Set<Int> = [0, body.count]
    if name == "two members" { complete.insert(Deflater.gzip(Array(Self.text.prefix(200))).count) }
    if name == "empty members between" {
      complete.formUnion([Deflater.gzip([]).count, (Deflater.gzip([]) + Deflater.gzip(Self.text)).count])
    }
    for length in 0...body.count {
      let result = decode(Array(body.prefix(length)), codings)
      #expect((result.kind == nil) == complete.contains(length), "\(name) cut to \(length)")
      if let kind = result.kind { #expect(kind == .truncated && kind.code == 18) }
    }
  }

  @Test(arguments: bodies.indices)
  func aByteAfterTheEndIsAnErrorEvenAlone(_ index: Int) {
    let (name, body, codings) = Self.bodies[index]
    for byte: UInt8 in [0, 0x0A, 0x1E, 0xFF] {
      #expect(decode(body + [byte], codings).kind == .contentEncoding, "\(name)")
      #expect(decode([body, [byte]], codings).kind == .contentEncoding, "\(name)")
    }
    #expect(HTTPError.Kind.contentEncoding.code == 61)
  }

  @Test func garbageThatLooksLikeAMemberAtFirstIsAnError() {
    #expect(decode(Deflater.gzip(Self.text) + [0x1F, 0x20], [.gzip]).kind == .contentEncoding)
    #expect(decode(Deflater.gzip(Self.text) + [0x1F], [.gzip]).kind == .truncated)
  }

  @Test func aBodyOfNoBytesIsEmptyUnderAnyCoding() {
    #expect(decode([UInt8](), [.gzip]) == .success([]))
    #expect(decode([[], []], [.deflate]) == .success([]))
    #expect(decode([UInt8](), [.deflate, .gzip]) == .success([]))
  }

  @Test func aCodedEmptyBodyIsEmpty() {
    #expect(decode(Deflater.gzip([]), [.gzip]) == .success([]))
    #expect(decode(Deflater.zlib([]), [.deflate]) == .success([]))
    #expect(decode(Deflater.raw([]), [.deflate]) == .success([]))
  }

  @Test func plainBytesUnderACodingAreDamaged() {
    #expect(decode(Self.text, [.gzip]).kind == .contentEncoding)
    #expect(decode(Array(repeating: 0xFF, count: 20), [.deflate]).kind == .contentEncoding)
  }

  @Test func aFlippedCheckValueIsDamage() {
    for distance in 1...8 {
      var body = Deflater.gzip(Self.text)
      body[body.count - distance] ^= 1
      #expect(decode(body, [.gzip]).kind == .contentEncoding)
    }
    var body = Deflater.zlib(Self.text)
    body[body.count - 1] ^= 1
    #expect(decode(body, [.deflate]).kind == .contentEncoding)
  }

  @Test func aZlibStreamThatNeedsADictionaryIsRefused() {
    // 0x78 0x20 sets FDICT; 0x7820 + 31 - remainder makes the check right.
    let flags = UInt8(0x20 + (31 - (0x7820 % 31)) % 31)
    #expect(decode([0x78, flags, 1, 2, 3, 4, 5, 6], [.deflate]).kind == .contentEncoding)
  }

  @Test func codingsAreUndoneInReverseOrderOverSeveralLines() throws {
    var headers: HTTPFields = ["Content-Encoding": "Deflate ,\tidentity"]
    headers.append("content-encoding", ", X-GZIP,")
    let decoder = try #require(try ContentDecoder(headers: headers))
    decoder.feed(BodyChunk(Deflater.gzip(Deflater.zlib(Self.text))))
    var output: [UInt8] = []
    while let chunk = try decoder.next() { chunk.append(to: &output) }
    try decoder.finish()
    #expect(output == Self.text)
    #expect(decoder.decodedBytes == Int64(Self.text.count))
  }

  @Test func nothingToUndoGivesNoDecoder() throws {
    for value in [nil, "", "identity", " , identity ,"] {
      var headers = HTTPFields()
      headers["Content-Encoding"] = value
      #expect(try ContentDecoder(headers: headers) == nil)
    }
  }

  @Test(arguments: ["rot13", "gzip;q=1", "compress", "gzip gzip", "br2", "\u{FF}"])
  func anUnknownCodingIsATypedError(_ value: String) {
    #expect(throws: HTTPError(.contentEncoding, phase: .decode, message: "")) {
      _ = try ContentDecoder(headers: ["Content-Encoding": value])
    }
  }

  @Test func moreThanFourCodingsAreRefused() throws {
    #expect(try ContentDecoder(headers: ["Content-Encoding": "gzip, gzip, gzip, gzip"]) != nil)
    #expect(throws: HTTPError.self) {
      _ = try ContentDecoder(headers: ["Content-Encoding": "gzip, gzip, gzip, gzip, gzip"])
    }
  }

  @Test func responsesWithoutABodyAreNotDecoded() {
    #expect(ContentDecoder.applies(method: .get, status: 200))
    #expect(ContentDecoder.applies(method: .get, status: 404))
    #expect(!ContentDecoder.applies(method: .head, status: 200))
    for status: HTTPStatus in [100, 103, 204, 304] {
      #expect(!ContentDecoder.applies(method: .get, status: status))
    }
  }

  @Test func anErrorIsThrownAgain() throws {
    let decoder = try ContentDecoder(codings: [.gzip])
    decoder.feed(BodyChunk(Array("plain".utf8)))
    for _ in 0..<3 { #expect(throws: HTTPError.self) { _ = try decoder.next() } }
    #expect(throws: HTTPError.self) { try decoder.finish() }
  }

  @Test func whatIsAdvertisedIsWhatIsDecoded() throws {
    #expect(AcceptEncoding.value.hasPrefix("gzip, deflate"))
    #expect(try ContentDecoder(headers: ["Content-Encoding": AcceptEncoding.value]) != nil)
    #if Brotli && Zstd
      #expect(AcceptEncoding.value == "gzip, deflate, br, zstd")
    #elseif !Brotli && !Zstd
      #expect(AcceptEncoding.value == "gzip, deflate")
    #endif
  }
}
