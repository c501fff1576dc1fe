import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct BodyCodingTests {
  private func decoded(_ bytes: [UInt8], _ coding: BodyCoding = .gzip) async throws -> [UInt8] {
    let decoder = try #require(
      try ContentDecoder(headers: ["Content-Encoding": coding.rawValue], limits: .standard))
    let source = DecodedBodySource(
      ChunkSource(BodyChunk(bytes)), decoder: decoder, status: 200, method: .get, url: "http://h/")
    var all: [UInt8] = []
    while let chunk = try await source.next() { all += chunk }
    return all
  }

  @Test("what is coded is decoded again", arguments: [0, 1, 1000, 64 << 10, (64 << 10) + 1, 1_000_000])
  func round_trip(count: Int) async throws {
    var random = SeededGenerator(seed: UInt64(count))
    // Neither random nor plain: some of both.
    let bytes = (0..<count).map { _ in UInt8(random.next(below: 7) + (random.next(below: 50) == 0 ? 200 : 0))
    }
    for coding in [BodyCoding.gzip, .deflate] {
      let coded = try CodedBody.coded(.bytes(bytes), coding)
      let wire = try await FormTests.bytes(coded)
      if count <= 64 << 10 {
        #expect(coded.length == Int64(wire.count))
      } else {
        #expect(coded.length == nil)
      }
      let back = try await decoded(wire, coding)
      #expect(back == bytes)
      #expect(coded.isReplayable)
      let again = try await FormTests.bytes(coded)
      #expect(again == wire)
    }
  }

  @Test func `a stream is coded as it comes, whatever its pieces`() async throws {
    var random = SeededGenerator(seed: 3)
    var pieces = (0..<40).map { _ in random.bytes(random.next(below: 9000)) }
    pieces.insert([], at: 5)
    let all = pieces
    let body = RequestBody.replayableStream {
      AsyncStream<[UInt8]> { continuation in
        for piece in all { continuation.yield(piece) }
        continuation.finish()
      }
    }
    let wire = try await FormTests.bytes(CodedBody.coded(body, .gzip))
    let back = try await decoded(wire)
    #expect(back == all.flatMap { $0 })
  }

  @Test func `a request says what was done to its body, unless it says so itself`() throws {
    let encoder = RequestEncoder(ClientConfiguration())
    var request = Request.post("http://h/", body: .string(String(repeating: "a", count: 500)))
    request.bodyCoding = .gzip
    let sent = try encoder.encode(request, reportsUpload: false)
    #expect(sent.headers["Content-Encoding"] == "gzip")
    #expect((sent.body.length ?? .max) < 100)
    var deflated = request
    deflated.bodyCoding = .deflate
    let other = try encoder.encode(deflated, reportsUpload: false)
    #expect(other.headers["Content-Encoding"] == "deflate" && (other.body.length ?? .max) < 100)
    request.headers.append("Content-Encoding", "br")
    let left = try encoder.encode(request, reportsUpload: false)
    #expect(left.headers[all: "Content-Encoding"] == ["br"])
    #expect(left.body.length == 500)
    var empty = Request.get("http://h/")
    empty.bodyCoding = .gzip
    let nothing = try encoder.encode(empty, reportsUpload: false)
    #expect(!nothing.headers.contains("Content-Encoding"))
  }

  @Test func `a body's own type, trailers and Expect become fields`() throws {
    let encoder = RequestEncoder(ClientConfiguration())
    var request = Request.post("http://h/", body: .form([("a", "1")]).trailers(["X-Sum"]) { ["X-Sum": "1"] })
    request.expectContinue = .seconds(3)
    let sent = try encoder.encode(request, reportsUpload: false)
    #expect(sent.headers["Content-Type"] == "application/x-www-form-urlencoded")
    #expect(sent.headers["Trailer"] == "X-Sum")
    #expect(sent.headers["Expect"] == "100-continue")
    #expect(sent.options.expectLimit == .seconds(3))
    #expect(sent.options.version == .http1_1)
    request.headers = ["content-type": "text/x"]
    request.withoutDefaults = ["expect"]
    let other = try encoder.encode(request, reportsUpload: false)
    #expect(other.headers[all: "Content-Type"] == ["text/x"])
    #expect(!other.headers.contains("Expect"))
  }
}
