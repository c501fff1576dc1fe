import StreamCore
import TestSupport
import Testing

@Suite struct JSONElementScannerTests {
  static func elements(_ pieces: [[UInt8]], at path: [String], limit: Int = 1000) -> [String] {
    var scanner = JSONElementScanner(path: path, limit: limit)
    var found: [BodyChunk] = []
    var failure: [String] = []
    do throws(HTTPError) {
      for piece in pieces { try scanner.feed(BodyChunk(piece), into: &found) }
      try scanner.finish()
    } catch {
      failure.append("error: \(error.kind.rawValue)")
    }
    return found.map { String(decoding: $0, as: UTF8.self) } + failure
  }

  static func check(_ text: String, at path: [String], limit: Int = 1000, _ expected: [String]) {
    let bytes = Array(text.utf8)
    for cut in 0...bytes.count {
      let found = elements([Array(bytes[..<cut]), Array(bytes[cut...])], at: path, limit: limit)
      #expect(found == expected, "\(text) cut at \(cut)")
    }
    #expect(elements(bytes.map { [$0] }, at: path, limit: limit) == expected, "\(text)")
  }

  @Test func `elements of the outermost array`() {
    Self.check(
      #" [1, -2.5e3 ,"a]\"é" , {"x":[1,{"y":2}]},[ ],true,null] "#, at: [],
      ["1", "-2.5e3", "\"a]\\\"é\"", #"{"x":[1,{"y":2}]}"#, "[ ]", "true", "null"])
    Self.check("[]", at: [], [])
  }

  @Test func `elements at a path, whatever stands around it`() {
    Self.check(
      #"{"meta":{"data":{"items":[9]}},"data":{"n":[8],"items":[{"id":1},{"id":2}],"z":{"items":[7]}},"items":[6]}"#,
      at: ["data", "items"], [#"{"id":1}"#, #"{"id":2}"#])
  }

  @Test func `a step that is a number is a place in an array or a name`() {
    Self.check(#"{"pages":[{"rows":[1]},[0],{"rows":[2,3]}]}"#, at: ["pages", "2", "rows"], ["2", "3"])
    Self.check(#"{"7":[1]}"#, at: ["7"], ["1"])
    Self.check("[[1],[2],[3]]", at: ["1"], ["2"])
  }

  @Test func `names are compared without their escapes`() {
    Self.check(#"{"\u0069t\u00e9m\ud83d\ude80\n":[1]}"#, at: ["itém\u{1F680}\n"], ["1"])
    Self.check(#"{"a.b":[1]}"#, at: ["a.b"], ["1"])
    Self.check(#"{"items\u0000":[1],"items":[2]}"#, at: ["items"], ["2"])
  }

  @Test func `a path that leads nowhere or to no array is an error`() {
    Self.check(#"{"data":{}}"#, at: ["data", "items"], ["error: record"])
    Self.check(#"{"data":{"items":{}}}"#, at: ["data", "items"], ["error: record"])
    Self.check(#"{"data":7}"#, at: ["data", "items"], ["error: record"])
    Self.check("{}", at: [], ["error: record"])
    Self.check("", at: [], ["error: record"])
  }

  @Test func `a document that is cut or no JSON is an error behind what was complete`() {
    Self.check(#"{"items":[1,{"a":2}"#, at: ["items"], ["1", #"{"a":2}"#, "error: truncated"])
    Self.check(#"{"items":[1,2],"rest":}"#, at: ["items"], ["1", "2", "error: record"])
    Self.check(#"{"items":[1,2]}}"#, at: ["items"], ["1", "2", "error: record"])
    Self.check(#"{"items":[1,2]"#, at: ["items"], ["1", "2", "error: truncated"])
    Self.check("[1,tru,2]", at: [], ["1", "error: record"])
  }

  @Test func `the limit holds for each element and nothing else`() {
    let long = String(repeating: "x", count: 300)
    Self.check(
      "{\"\(long)\":\"\(long)\",\"a\":[\"12\",\"123\"]}", at: ["a"], limit: 4,
      ["\"12\"", "error: line_limit"])
    Self.check("[\"\(long)", at: [], limit: 100, ["error: line_limit"])
  }

  @Test func `an element within a chunk shares its memory`() throws {
    var scanner = JSONElementScanner(path: [])
    var found: [BodyChunk] = []
    let chunk = BodyChunk(Array("[10,20]".utf8))
    try scanner.feed(chunk, into: &found)
    let base = chunk.withUnsafeBytes { $0.baseAddress }
    #expect(
      found.map { $0.withUnsafeBytes { $0.baseAddress } } == [base.map { $0 + 1 }, base.map { $0 + 4 }])
  }

  @Test func `random documents give what was put in, whatever the cuts`() {
    var generator = SeededGenerator(seed: 77)
    func value(_ depth: Int, _ generator: inout SeededGenerator) -> String {
      switch generator.next(below: depth > 3 ? 4 : 6) {
      case 0: return "\(generator.next(below: 1000) - 500)"
      case 1: return "\"s\\\"]}é\(generator.next(below: 9))\""
      case 2: return "null"
      case 3: return "1.5e\(generator.next(below: 9))"
      case 4:
        let items = (0..<generator.next(below: 3)).map { _ in value(depth + 1, &generator) }
        return "[" + items.joined(separator: generator.next(below: 2) == 0 ? "," : " , ") + "]"
      default:
        let items = (0..<generator.next(below: 3)).map {
          "\"items\($0 % 2)\":" + value(depth + 1, &generator)
        }
        return "{" + items.joined(separator: ",") + "}"
      }
    }
    for _ in 0..<400 {
      let items = (0..<generator.next(below: 6)).map { _ in value(0, &generator) }
      let text =
        "{\"a\":\(value(0, &generator)),\"items\":[\(items.joined(separator: ","))],\"b\":\(value(0, &generator))}"
      #expect(Self.elements(generator.pieces(of: Array(text.utf8)), at: ["items"]) == items, "\(text)")
      var damaged = Array(text.utf8)
      damaged[generator.next(below: damaged.count)] = UInt8(truncatingIfNeeded: generator.next())
      let whole = Self.elements([damaged], at: ["items"], limit: 50)
      #expect(Self.elements(generator.pieces(of: damaged), at: ["items"], limit: 50) == whole, "\(damaged)")
    }
  }
}
