import StreamCore
import TestSupport
import Testing

@Suite struct MultipartParserTests {
  /// The parts as "name=value;…|content", and the error's kind.
  static func parts(_ pieces: [[UInt8]], boundary: String = "b", headLimit: Int = 200) -> [String] {
    var parser = MultipartParser(boundary: boundary, headLimit: headLimit)
    var events: [MultipartParser.Event] = []
    var failure: [String] = []
    do throws(HTTPError) {
      for piece in pieces { try parser.feed(BodyChunk(piece), into: &events) }
      try parser.finish()
    } catch {
      failure.append("error: \(error.kind.rawValue)")
    }
    var parts: [String] = []
    var content: [UInt8] = []
    for event in events {
      switch event {
      case .head(let fields):
        parts.append(fields.map { "\($0.name)=\($0.value)" }.joined(separator: ";") + "|")
      case .body(let chunk): content += chunk
      case .partEnd:
        parts[parts.count - 1] += String(decoding: content, as: UTF8.self)
        content = []
      }
    }
    return parts + failure
  }

  static func check(_ text: String, _ expected: [String]) {
    let bytes = Array(text.utf8)
    for cut in 0...bytes.count {
      #expect(parts([Array(bytes[..<cut]), Array(bytes[cut...])]) == expected, "cut at \(cut)")
    }
    #expect(parts(bytes.map { [$0] }) == expected)
  }

  @Test func `parts with and without heads, preamble and epilogue left out`() {
    Self.check(
      "preamble\r\n--b\r\nA: 1\r\nContent-Type:text/plain \r\n\r\none\r\n--b  \t\r\n\r\n\r\n--b\r\nX: é\r\n\r\nthree\r\n\r\n--b--\r\nepilogue --b\r\n",
      ["A=1;Content-Type=text/plain|one", "|", "X=é|three\r\n"])
    Self.check("--b\r\n\r\nx\r\n--b--", ["|x"])
    Self.check("--b--", [])
  }

  @Test func `what only looks like a boundary is content`() {
    Self.check(
      "--b\r\n\r\na\r\n--bc\r\n--\r\n-b--b\r\n\r\r\n--b\rx\n--b\r\n--b-\r\n--b--",
      ["|a\r\n--bc\r\n--\r\n-b--b\r\n\r\r\n--b\rx\n--b\r\n--b-"])
  }

  @Test func `a body without its boundary, and one that is cut, are errors`() {
    Self.check("hello", ["error: record"])
    Self.check("", ["error: record"])
    Self.check("--b\r\n\r\nx\r\n--b\r\nA: 1\r\n", ["|x", "error: truncated"])
  }

  @Test func `a line that is no header, and a head that is too large, are errors`() {
    Self.check("--b\r\nno header\r\n\r\nx\r\n--b--", ["error: record"])
    Self.check("--b\r\nA: \(String(repeating: "x", count: 200))\r\n\r\nx\r\n--b--", ["error: header_limit"])
  }

  @Test func `random bytes never trap and mean the same whatever the cuts`() {
    let words = [
      "--b", "--", "\r\n", "\r", "\n", "A: 1", "x", " ", "-", "\r\n--b\r\n", "\r\n--b--", "\r\n\r\n", "é",
    ]
    var generator = SeededGenerator(seed: 2046)
    for _ in 0..<3000 {
      var bytes: [UInt8] = []
      for _ in 0..<generator.next(below: 20) {
        bytes += Array(words[generator.next(below: words.count)].utf8)
      }
      let whole = Self.parts([bytes])
      #expect(Self.parts(bytes.map { [$0] }) == whole, "\(bytes)")
      #expect(Self.parts(generator.pieces(of: bytes)) == whole, "\(bytes)")
    }
  }
}
