import Penstock
import Testing

@testable import PenstockCLI

@Suite struct BatchLineParserTests {
  private func parse(_ line: String, _ number: Int = 7) -> BatchInput? {
    BatchLineParser.parse(Array(line.utf8), number: number)
  }

  @Test func `blank lines and comments are nothing`() {
    for line in ["", "  ", "\r", "\t \r", "# text", "  # text", "\u{FEFF}"] { #expect(parse(line) == nil) }
  }

  @Test func `a URL is named by its line`() throws {
    let input = try #require(parse("  http://h/ä b \r"))
    #expect(input.id == .line(7))
    #expect(input.url == "http://h/ä b")
    #expect(input.failure == nil && input.details == nil)
  }

  @Test func `an object says more`() throws {
    let line = """
      {"url":"http://h/","method":"PUT","headers":[["A","1"],["A","2"]],"body":"x","file":"a/b.txt","id":"k",\
      "priority":-3,"own":{}}
      """
    let input = try #require(parse(line))
    #expect(input.id == .string("k"))
    let request = try input.request(.get("", headers: ["a": "0", "B": "3"]), nil)
    #expect(request.method == .put)
    #expect(request.url == "http://h/")
    #expect(request.headers.map(\.value) == ["3", "1", "2"])
    #expect(request.body.length == 1)
    #expect(request.priority == -3)
    #expect(input.details?.file == "a/b.txt")
  }

  @Test func `a body without a method is posted`() throws {
    #expect(try #require(parse(#"{"url":"http://h/","body":""}"#)).request(.get(""), nil).method == .post)
    #expect(try #require(parse(#"{"url":"http://h/","body":null}"#)).request(.get(""), nil).method == .get)
  }

  @Test(arguments: [
    ("{\"url\":", 93), ("{\"id\":5}", 3), ("{\"url\":5}", 93), ("{\"url\":\"http://h/\",\"id\":[]}", 93),
    ("{\"url\":\"http://h/\",\"headers\":{}}", 93), ("{\"url\":\"http://h/\",\"headers\":[[\"a\"]]}", 93),
    ("{\"url\":\"http://h/\",\"priority\":1.5}", 93), ("{\"url\":\"http://h/\",\"priority\":\"x\"}", 93),
    ("{\"url\":\"http://h/\",\"file\":\"../x\"}", 93), ("{\"url\":\"http://h/\",\"file\":\"/x\"}", 93),
    ("{\"url\":\"http://h/\",\"body\":{}}", 93), ("{\"url\":\"http://h/\"} x", 93),
  ]) func `a malformed line is a failure with its number`(line: String, code: Int) throws {
    let input = try #require(parse(line))
    #expect(input.failure?.code == code)
    #expect(input.failure?.message.contains("line 7") == true)
  }

  @Test func `an id that was given stays with a malformed line`() {
    #expect(parse(#"{"id":12,"url":5}"#)?.id == .number("12"))
    #expect(parse(#"{"id":1.50,"url":"http://h/"}"#)?.id == .number("1.50"))
  }

  @Test func `a line that isn't UTF-8 is a failure`() {
    #expect(BatchLineParser.parse([0x68, 0xFF], number: 1)?.failure?.code == 93)
  }

  @Test func `names of files stay in the folder`() {
    for name in ["a", "a/b", "..a", "a..", ".a"] { #expect(BatchFileName.refusal(name) == nil, "\(name)") }
    for name in [
      "", "..", ".", "a/..", "a/../b", "/a", "a//b", "a/", "a\u{0}b", String(repeating: "a", count: 300),
    ] {
      #expect(BatchFileName.refusal(name) != nil, "\(name)")
    }
  }

  @Test func `inputs are the same in what is sent, and in their id for a state`() throws {
    let plain = try #require(parse("http://h/"))
    let object = try #require(parse(#"{"url":"http://h/"}"#))
    let named = try #require(parse(#"{"url":"http://h/","id":"a"}"#))
    #expect(plain.exchangeKey(names: true) == object.exchangeKey(names: true))
    #expect(plain.stateKey == object.stateKey)
    #expect(named.exchangeKey(names: true) == plain.exchangeKey(names: true))
    #expect(named.stateKey != plain.stateKey)
    let file = try #require(parse(#"{"url":"http://h/","file":"f"}"#))
    #expect(file.exchangeKey(names: true) != plain.exchangeKey(names: true))
    #expect(file.exchangeKey(names: false) == plain.exchangeKey(names: false))
    let posted = try #require(parse(#"{"url":"http://h/","body":""}"#))
    #expect(posted.exchangeKey(names: false) != plain.exchangeKey(names: false))
  }
}
