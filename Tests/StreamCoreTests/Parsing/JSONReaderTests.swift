import StreamCore
import Testing

@Suite struct JSONReaderTests {
  private func read(_ text: String) throws -> WrittenJSON { try JSONReader.read(Array(text.utf8)) }

  @Test func `values of every kind`() throws {
    #expect(try read(" null ") == .null)
    #expect(try read("true") == .bool(true))
    #expect(try read("-12.50e+3") == .number("-12.50e+3"))
    #expect(try read(#""a\"\\\/\b\f\n\r\té\ud83d\ude00ü""#) == .string("a\"\\/\u{8}\u{c}\n\r\té😀ü"))
    #expect(try read("[ ]") == .array([]))
    #expect(
      try read(#"{"a":[1,{"b":null}], "a":2}"#)
        == .object(["a": .array([.number("1"), .object(["b": .null])])]), "the first of equal names counts")
  }

  @Test(arguments: [
    "", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "[1,]", "[1 2]", "01", "1.", "+1", ".5", "1e", "tru", "nul",
    "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"",
    "\"\u{1}\"",
    "1 2", "{1:2}", "'a'", "{\"a\":1}}", "-",
  ]) func `what JSON doesn't allow is refused`(text: String) {
    #expect(throws: JSONReader.Failure.self) { try read(text) }
  }

  @Test func `deep nesting is refused, not followed`() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSONReader.Failure.self) { try read(deep) }
    #expect(throws: JSONReader.Failure.self) { try JSONReader.read([0x22, 0xFF, 0x22]) }
  }
}
