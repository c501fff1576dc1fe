import Penstock
import StreamCore
import TestSupport
import Testing

/// `br` and `zstd`: run with `swift test --traits Brotli,Zstd`.
@Suite struct TraitCodingTests {
  static let text = Array(String(repeating: "penstock ", count: 40).utf8)

  /// Every cut decodes alike, every shorter body is truncated, and a further byte is an error.
  static func check(_ body: [UInt8], _ coding: ContentCoding) {
    for cut in 0...body.count {
      #expect(decode([Array(body[..<cut]), Array(body[cut...])], [coding]) == .success(text))
      if cut > 0 && cut < body.count {
        #expect(decode(Array(body[..<cut]), [coding]).kind == .truncated)
      }
    }
    #expect(decode(body + [0x55, 0x55, 0x55, 0x55, 0x55], [coding]).kind == .contentEncoding)
    #expect(decode([UInt8](), [coding]) == .success([]))
    var generator = SeededGenerator(seed: 9)
    for _ in 0..<10_000 {
      var mutated = body
      for _ in 0...Int(generator.next() % 3) {
        mutated[Int(generator.next() % UInt64(body.count))] = UInt8(truncatingIfNeeded: generator.next())
      }
      _ = decode(mutated, [coding], limits: DecodingLimits(maximumBytes: 1 << 20))
    }
  }

  #if Brotli
    @Test func brDecodes() {
      let body: [UInt8] = [
        0x1F, 0x67, 0x01, 0xF8, 0xC5, 0x6D, 0x6C, 0x5D, 0xF7, 0x17, 0x97, 0xA0, 0x42, 0x05, 0x6F, 0xC1, 0xC0,
        0x8C, 0x29, 0xF7, 0xA5, 0x01,
      ]
      Self.check(body, .brotli)
      #expect(decode(Deflater.gzip(body), [.brotli, .gzip]) == .success(Self.text))
    }
  #else
    @Test func brIsUnknownAndTheErrorTellsHowToGetIt() throws {
      let error = #expect(throws: HTTPError.self) {
        _ = try ContentDecoder(headers: ["Content-Encoding": "br"])
      }
      #expect(error?.advice?.contains("Brotli") == true)
    }
  #endif

  #if Zstd
    @Test func zstdDecodes() {
      let body: [UInt8] = [
        0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x85, 0x00, 0x00, 0x48, 0x70, 0x65, 0x6E, 0x73, 0x74, 0x6F, 0x63,
        0x6B, 0x20, 0x01, 0x00, 0x5C, 0x54, 0xCB, 0x11, 0x95, 0x71, 0x2E, 0x8E,
      ]
      Self.check(body, .zstd)
      #expect(decode(body + body, [.zstd]) == .success(Self.text + Self.text))
    }
  #else
    @Test func zstdIsUnknownAndTheErrorTellsHowToGetIt() throws {
      let error = #expect(throws: HTTPError.self) {
        _ = try ContentDecoder(headers: ["Content-Encoding": "zstd"])
      }
      #expect(error?.advice?.contains("Zstd") == true)
    }
  #endif
}
