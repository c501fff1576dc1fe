import TestSupport
import Testing

@testable import PenstockTesting

@Suite struct RequestParserTests {
  private struct Parsed: Equatable {
    var heads: [RequestParser.Head] = []
    var bodies: [[UInt8]] = []
    var raw: [[UInt8]] = []
    var trailers: [[RecordedField]] = []
    var error: TestServerError?
  }

  private func parse(_ pieces: [ArraySlice<UInt8>]) -> Parsed {
    var parser = RequestParser()
    var parsed = Parsed()
    do throws(TestServerError) {
      for piece in pieces {
        parser.append(piece)
        while let output = try parser.next() {
          switch output {
          case .head(let head):
            parsed.heads.append(head)
            parsed.bodies.append([])
            parsed.raw.append([])
          case .content(let bytes):
            parsed.bodies[parsed.bodies.count - 1] += bytes
            parsed.raw[parsed.raw.count - 1] += bytes
          case .framing(let bytes): parsed.raw[parsed.raw.count - 1] += bytes
          case .end(let trailers): parsed.trailers.append(trailers)
          }
        }
      }
    } catch {
      parsed.error = error
    }
    return parsed
  }

  private func cut(_ bytes: [UInt8], using generator: inout some RandomNumberGenerator) -> [ArraySlice<UInt8>]
  {
    var pieces: [ArraySlice<UInt8>] = []
    var start = 0
    while start < bytes.count {
      let length = Int.random(in: 1...(Bool.random(using: &generator) ? 3 : 60), using: &generator)
      let end = min(bytes.count, start + length)
      pieces.append(bytes[start..<end])
      start = end
    }
    return pieces
  }

  @Test func random_cuts_give_the_same_requests() {
    let stream = Array(
      ("GET /a HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nx-a:  2 \r\n\r\n"
        + "POST /b HTTP/1.1\r\nContent-Length: 11\r\n\r\nhello\r\n\r\nab"
        + "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n"
        + "HEAD /d HTTP/1.0\r\n\r\n").utf8)
    let whole = parse([stream[...]])
    #expect(whole.error == nil)
    #expect(whole.heads.map(\.method) == ["GET", "POST", "PUT", "HEAD"])
    #expect(whole.heads[0].fields.map(\.value) == ["x", "1", "2"])
    #expect(
      whole.bodies.map { String(decoding: $0, as: UTF8.self) } == [
        "", "hello\r\n\r\nab", "hello0123456789", "",
      ])
    #expect(String(decoding: whole.raw[2], as: UTF8.self).hasPrefix("5;x=y\r\nhello\r\nA\r\n"))
    #expect(whole.trailers == [[], [], [RecordedField(name: "T", value: "v")], []])
    #expect(whole.heads.map(\.keepsAlive) == [true, true, true, false])
    #expect(parse(stream.indices.map { stream[$0...$0] }) == whole)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<500 { #expect(parse(cut(stream, using: &generator)) == whole) }
  }

  @Test(arguments: [
    "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "GET / HTTP/1.1\r\na: b\nc: d\r\n\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
  ])
  func malformed_requests_are_refused(_ text: String) {
    let bytes = Array(text.utf8)
    let whole = parse([bytes[...]])
    #expect(whole.error != nil)
    #expect(parse(bytes.indices.map { bytes[$0...$0] }).error == whole.error)
  }

  @Test func random_bytes_never_trap() {
    for _ in 0..<2_000 {
      var generator = SeededGenerator(seed: 6)
      let alphabet = Array("GET / HTTP/1.1\r\n\r\n:chunked0123456789a;content-length".utf8) + [0, 255]
      let bytes = (0..<200).map { _ in alphabet.randomElement() ?? 0 }
      _ = parse(
        cut(Array("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + bytes, using: &generator))
      _ = parse(cut(bytes, using: &generator))
    }
  }
}
