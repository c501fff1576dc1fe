import Penstock
import StreamCore
import TestSupport
import Testing

@Suite struct DecodingBoundsTests {
  static let zeros = [UInt8](repeating: 0, count: 24 << 20)

  @Test func aFileOfZerosIsRefusedBeyondTheAllowance() {
    let body = Deflater.gzip(Self.zeros, level: 9)
    #expect(decode(body, [.gzip]).kind == .bodyTooLarge)
    #expect(decode(body, [.gzip], limits: .none) == .success(Self.zeros))
    #expect(HTTPError.Kind.bodyTooLarge.code == 63)
  }

  @Test func underTheAllowanceAnyRatioPasses() {
    let some = Array(Self.zeros.prefix(8 << 20))
    #expect(decode(Deflater.gzip(Deflater.gzip(some)), [.gzip, .gzip]) == .success(some))
  }

  @Test func oneLogLineOverAndOverPasses() {
    let line = Array("2026-11-30T06:47:38Z INFO GET /health 200 0.3ms agent=probe/1.29\n".utf8)
    var log: [UInt8] = []
    while log.count < 24 << 20 { log += line }
    #expect(decode(Deflater.gzip(log, level: 9), [.gzip]) == .success(log))
  }

  @Test func aStackedBombIsRefused() {
    let bomb = Deflater.gzip(Deflater.gzip(Self.zeros, level: 9), level: 9)
    #expect(decode(bomb, [.gzip, .gzip]).kind == .bodyTooLarge)
  }

  @Test func aBombInTheMiddleOfAStackIsRefusedThoughNothingComesOut() {
    // Millions of empty members: large in between, nothing at the end.
    let member = Deflater.gzip([])
    var members: [UInt8] = []
    while members.count < 4 << 20 { members += member }
    let limits = DecodingLimits(maximumRatio: 100, ratioAllowance: 1 << 20)
    let body = Deflater.gzip(members, level: 9)
    #expect(decode(body, [.gzip, .gzip], limits: limits).kind == .bodyTooLarge)
    #expect(decode(body, [.gzip, .gzip]) == .success([]))
  }

  @Test func theSizeLimitCountsDecodedBytesAndIsExact() {
    let text = sampleText(100_000)
    let body = Deflater.gzip(text)
    #expect(decode(body, [.gzip], limits: DecodingLimits(maximumBytes: 100_000)) == .success(text))
    #expect(decode(body, [.gzip], limits: DecodingLimits(maximumBytes: 99_999)).kind == .bodyTooLarge)
    #expect(decode(body, [.gzip], limits: DecodingLimits(maximumBytes: 0)).kind == .bodyTooLarge)
  }

  @Test func theSizeLimitIgnoresWhatACodingInTheMiddleAdds() {
    var generator = SeededGenerator(seed: 3)
    let noise = (0..<50_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    let body = Deflater.gzip(Deflater.gzip(noise))
    let limits = DecodingLimits(maximumBytes: 50_000)
    #expect(decode(body, [.gzip, .gzip], limits: limits) == .success(noise))
  }

  @Test func strangeLimitsDoNotTrap() {
    let body = Deflater.gzip(Self.zeros, level: 9)
    for limits in [
      DecodingLimits(maximumBytes: -1), DecodingLimits(maximumRatio: 0, ratioAllowance: -1),
      DecodingLimits(maximumRatio: .min, ratioAllowance: .min), DecodingLimits(maximumBytes: .min),
    ] {
      #expect(decode(body, [.gzip], limits: limits).kind == .bodyTooLarge)
    }
  }

  @Test func decodingHoldsOneBlockPerCodingAndNoneWhenIdle() throws {
    let pool = SlabPool(keep: 2)
    let decoder = try ContentDecoder(codings: [.gzip, .gzip], limits: .none, pool: pool)
    decoder.feed(BodyChunk(Deflater.gzip(Deflater.gzip(Self.zeros, level: 0), level: 6)))
    var most = 0
    var count = 0
    while let chunk = try decoder.next() {
      #expect(chunk.count <= 64 << 10)
      count += chunk.count
      most = max(most, pool.live)
    }
    #expect(count == Self.zeros.count)
    #expect(most <= 4)
    #expect(pool.live == 0)
  }

  @Test func aSmallPieceComesAtOnceAndKeepsNoBlock() throws {
    let pool = SlabPool(keep: 2)
    let decoder = try ContentDecoder(codings: [.gzip], pool: pool)
    let body = Deflater.gzip(Array("data: one\n\n".utf8), level: 0)
    decoder.feed(BodyChunk(Array(body.dropLast(8))))
    let piece = try #require(try decoder.next())
    #expect(Array(piece) == Array("data: one\n\n".utf8))
    #expect(try decoder.next() == nil)
    #expect(pool.live == 0)
  }

  @Test func mutatedInputNeverTrapsNorRunsOn() {
    var generator = SeededGenerator(seed: 42)
    let text = sampleText(400)
    let seeds: [([UInt8], [ContentCoding])] = [
      (Deflater.gzip(text), [.gzip]), (Deflater.zlib(text), [.deflate]), (Deflater.raw(text), [.deflate]),
      (Deflater.gzip(text) + Deflater.gzip(text), [.gzip]),
      (Deflater.zlib(Deflater.gzip(text)), [.gzip, .deflate]),
    ]
    let limits = DecodingLimits(maximumBytes: 1 << 20)
    var decoded = 0
    for round in 0..<100_000 {
      var (body, codings) = seeds[round % seeds.count]
      for _ in 0...Int(generator.next() % 3) {
        let position = Int(generator.next() % UInt64(body.count))
        switch generator.next() % 4 {
        case 0: body[position] = UInt8(truncatingIfNeeded: generator.next())
        case 1: body[position] ^= 1 << (generator.next() % 8)
        case 2: body.remove(at: position)
        default: body.insert(UInt8(truncatingIfNeeded: generator.next()), at: position)
        }
      }
      let cut = Int(generator.next() % UInt64(body.count))
      switch decode([Array(body[..<cut]), Array(body[cut...])], codings, limits: limits) {
      case .success: decoded += 1
      case .failure(let error):
        #expect([.contentEncoding, .truncated, .bodyTooLarge].contains(error.kind))
      }
    }
    // Some mutations strike bytes without a meaning, such as the time in a gzip header.
    #expect(decoded < 50_000)
  }
}
