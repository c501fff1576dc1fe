import StreamCore
import Testing

@testable import Penstock

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
