@testable import StreamCore
import TestSupport
import Testing

struct HeaderBlockParserTests {
  private func run(_ lines: [String], limit: HeadLimit = HeadLimit()) -> [HeaderBlockParser.Event] {
    var parser = HeaderBlockParser(limit: limit)
    return lines.map { feed(Array(($0 + "\r\n").utf8), to: &parser) }.filter { $0 != .none }
  }

  private func feed(_ bytes: [UInt8], to parser: inout HeaderBlockParser) -> HeaderBlockParser.Event {
    bytes.withUnsafeBytes { parser.line($0) }
  }

  @Test func `a block is a head at its empty line`() {
    #expect(
      run(["HTTP/1.1 200 OK", "Content-Type: text/plain", "X-A:  b \t", "X-Empty:", ""]) == [
        .head(
          ResponseHead(
            status: 200, reason: "OK",
            headers: ["Content-Type": "text/plain", "X-A": "b", "X-Empty": ""]))
      ])
  }

  @Test func `each status line starts a new block`() {
    #expect(
      run([
        "HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: </a>", "", "HTTP/1.1 200 OK", "A: 1",
        "",
      ]) == [
        .head(ResponseHead(status: 100, reason: "Continue")),
        .head(ResponseHead(status: 103, reason: "Early Hints", headers: ["Link": "</a>"])),
        .head(ResponseHead(status: 200, reason: "OK", headers: ["A": "1"])),
      ])
  }

  @Test func `a status line without an empty line before it drops the block begun`() {
    #expect(
      run(["HTTP/1.1 200 Connection established", "Via: p", "HTTP/1.1 204", ""]) == [
        .head(ResponseHead(status: 204))
      ])
  }

  @Test func `lines after the head are trailers, closed by an empty line`() {
    #expect(
      run(["HTTP/1.1 200 OK", "", "X-Sum: 1", "X-Sum: 2", ""]).last
        == .trailers(["X-Sum": "1", "X-Sum": "2"]))
  }

  @Test func `trailers without the empty line come at the end, once`() {
    var parser = HeaderBlockParser()
    for line in ["HTTP/2 200", "", "grpc-status: 0"] { _ = feed(Array((line + "\r\n").utf8), to: &parser) }
    #expect(parser.finish() == .trailers(["grpc-status": "0"]))
    #expect(parser.finish() == .none)
  }

  @Test func `nothing is left to finish after a head, or in one that is cut`() {
    var parser = HeaderBlockParser()
    _ = feed(Array("HTTP/1.1 200 OK\r\n".utf8), to: &parser)
    #expect(parser.finish() == .none)
    _ = feed(Array("\r\n".utf8), to: &parser)
    #expect(parser.finish() == .none)
  }

  @Test func `a folded line continues the value, whatever it holds`() {
    #expect(
      run(["HTTP/1.1 200 OK", "A: one", "\t two: three", "  four", ""]) == [
        .head(ResponseHead(status: 200, reason: "OK", headers: ["A": "one two: three four"]))
      ])
  }

  @Test func `an empty fold adds nothing`() {
    #expect(
      run(["HTTP/1.1 200 OK", "A: one", "   ", ""]) == [
        .head(ResponseHead(status: 200, reason: "OK", headers: ["A": "one"]))
      ])
  }

  @Test(arguments: [
    ["HTTP/1.1 200 OK", " folded into nothing"], ["HTTP/1.1 200 OK", " Content-Length: 3"],
    ["HTTP/1.1 200 OK", "no colon"], ["HTTP/1.1 200 OK", ": no name"], ["HTTP/1.1 200 OK", "A: b\0c"],
    ["HTTP/1.1 200 OK", "A\0: b"], ["HTTP/1.1 200 OK", "A: b", " c\0d"], ["HTTP/1.1 200 OK", "", "trailer"],
    ["HTTP/1.1 200 OK", "HTTP/1.1 2xx No"],
  ]) func `a line that is no field fails`(_ lines: [String]) {
    #expect(run(lines).last == .failure(.badLine))
  }

  @Test(arguments: [
    "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 abc", "HTTP/1.1 20x OK",
    "HTTP/4.0 200",
    "HTTP/11 200", "HTTP/1.1x200 OK", "http/1.1 200 OK", "ICY 200 OK", "A: b", "HTTP/1.1 099 Low",
    "HTTP/1.1 000", "HTTP/1x1 200 OK", "HTTP/1.x 200 OK", "HTTP/2x 200", "HTTP/", "H",
  ]) func `a bad first line fails`(_ line: String) { #expect(run([line]) == [.failure(.badStatusLine)]) }

  @Test(arguments: [
    ("HTTP/1.0 200 OK", ResponseHead(status: 200, reason: "OK", version: .http1_0)),
    ("HTTP/1.1 200", ResponseHead(status: 200)), ("HTTP/1.1 200 ", ResponseHead(status: 200)),
    ("HTTP/1.1 404 Not  Found ", ResponseHead(status: 404, reason: "Not  Found")),
    ("HTTP/2 200", ResponseHead(status: 200, version: .http2)),
    ("HTTP/2 200 ", ResponseHead(status: 200, version: .http2)),
    ("HTTP/2.0 200", ResponseHead(status: 200, version: .http2)),
    ("HTTP/3 200", ResponseHead(status: 200, version: .http3)),
    ("HTTP/1.1 999 Odd", ResponseHead(status: 999, reason: "Odd")),
  ]) func `status lines of every version`(_ line: String, _ head: ResponseHead) {
    #expect(run([line, ""]) == [.head(head)])
  }

  @Test func `bare LF ends a line too`() {
    var parser = HeaderBlockParser()
    #expect(feed(Array("HTTP/1.1 200 OK\n".utf8), to: &parser) == .none)
    #expect(feed(Array("A: b\n".utf8), to: &parser) == .none)
    #expect(
      feed([0x0A], to: &parser) == .head(ResponseHead(status: 200, reason: "OK", headers: ["A": "b"])))
  }

  @Test func `values that aren't UTF-8 keep their bytes`() {
    var parser = HeaderBlockParser()
    _ = feed(Array("HTTP/1.1 200 OK\r\n".utf8), to: &parser)
    _ = feed(Array("X: caf".utf8) + [0xE9, 0xFF, 0x0D, 0x0A], to: &parser)
    guard case .head(let head) = feed([0x0D, 0x0A], to: &parser) else {
      Issue.record("no head")
      return
    }
    #expect(head.headers.rawValues("x") == [Array("caf".utf8) + [0xE9, 0xFF]])
    #expect(head.headers["x"] == "caféÿ")
  }

  @Test func `the limit of lines counts all blocks`() {
    var limit = HeadLimit()
    limit.lines = 3
    let lines = ["HTTP/1.1 103", "A: 1", "", "HTTP/1.1 200", "B: 1", "C: 1", ""]
    #expect(run(lines, limit: limit).count == 2)
    #expect(run(lines + ["D: 1"], limit: limit).last == .failure(.tooManyLines(3)))
  }

  @Test func `the limit of bytes counts line ends and all blocks`() {
    var limit = HeadLimit()
    limit.bytes = 20 + 14
    #expect(
      run(["HTTP/1.1 200 OK", "", "HTTP/1.1 200"], limit: limit) == [
        .head(ResponseHead(status: 200, reason: "OK"))
      ])
    limit.bytes -= 2
    #expect(
      run(["HTTP/1.1 200 OK", "", "HTTP/1.1 200"], limit: limit).last == .failure(.tooLarge(limit.bytes)))
  }

  @Test func `the limit of a line counts its end`() {
    var limit = HeadLimit()
    limit.lineBytes = 17
    #expect(run(["HTTP/1.1 200 OK", ""], limit: limit).count == 1)
    #expect(run(["HTTP/1.1 200 OK", "A: 3456789012345x"], limit: limit) == [.failure(.lineTooLong(17))])
  }

  @Test func `a head of 64 KiB passes the standard limits`() {
    let lines = (0..<64).map { "X-\($0): " + String(repeating: "v", count: 1024) }
    guard case .head(let head) = run(["HTTP/1.1 200 OK"] + lines + [""]).last else {
      Issue.record("no head")
      return
    }
    #expect(head.headers.count == 64)
  }

  @Test func `random lines never trap`() {
    var random = SeededGenerator(seed: 5)
    let words = ["HTTP/1.1 200 OK", "HTTP/2 ", ":", " ", "\t", "A", "A: b", "\0", "\r", "\n", "100", "é", ""]
    for _ in 0..<3_000 {
      var parser = HeaderBlockParser()
      for _ in 0..<20 {
        var line: [UInt8] = []
        for _ in 0..<random.next(below: 5) {
          if random.next(below: 3) == 0 {
            line += random.bytes(random.next(below: 6))
          } else {
            line += words[random.next(below: words.count)].utf8
          }
        }
        if random.next(below: 2) == 0 { line += [0x0D, 0x0A] }
        if case .head(let head) = feed(line, to: &parser) {
          #expect(head.status.code >= 100 && head.status.code <= 999)
          for field in head.headers { #expect(!field.name.isEmpty) }
        }
      }
      _ = parser.finish()
    }
  }
}
