import Foundation
import Penstock
import StreamCore
import TestSupport
import Testing

@Suite struct ValueStreamTests {
  struct Row: Codable, Sendable, Equatable {
    var id: Int
    var text: String?
  }

  @Test func `lines of a body, multibyte characters included, at every cut`() async {
    await everyCut(
      "eins\r\nzwei é€\u{1F680}\n\nvier\u{2028}", ["eins", "zwei é€\u{1F680}", "", "vier\u{2028}"]
    ) {
      $0.lines
    }
    await everyCut("a\rb\nc\r\nd", ["a", "b", "c", "d"]) { $0.lines(endingWith: .any) }
    await everyCut("abc\nabcd\n", ["abc"], kind: .lineTooLong) { $0.lines(limit: .bytes(3)) }
  }

  @Test func `byte lines and their batches are the same lines`() async {
    let text = Array("a\nbb\nccc".utf8)
    let (lines, _) = await collected(ResponseBody(text).byteLines)
    #expect(lines.map(Array.init) == [[0x61], [0x62, 0x62], [0x63, 0x63, 0x63]])
    let (batches, _) = await collected(ResponseBody(text).byteLines.batches)
    #expect(batches.map(\.count) == [2, 1])
  }

  @Test func `JSON lines are decoded at every cut, blank lines left out`() async {
    await everyCut(
      "{\"id\":1}\n\n  \r\n{\"id\":2,\"text\":\"é\u{2028}b\"}\r\n {\"id\":3}",
      [Row(id: 1), Row(id: 2, text: "é\u{2028}b"), Row(id: 3)]
    ) { $0.jsonLines(of: Row.self) }
  }

  @Test func `a bad line ends the stream with its number and the way to the value`() async {
    let text = "{\"id\":1}\n\n{\"id\":\"x\"}\n{\"id\":3}\n"
    await everyCut(text, [Row(id: 1)], kind: .invalidRecord) { $0.jsonLines(of: Row.self) }
    let (_, error) = await collected(ResponseBody(Array(text.utf8)).jsonLines(of: Row.self))
    #expect(error?.message.contains("line 3 ") == true)
    #expect(error?.message.contains("\"id\"") == true)
    #expect(error?.code == 8)
  }

  @Test func `bad lines are skipped by choice`() async {
    await everyCut("{\"id\":1}\nnonsense\n{\"id\":2}\n{}", [Row(id: 1), Row(id: 2)]) {
      $0.jsonLines(of: Row.self, onInvalid: .skip)
    }
  }

  @Test func `bad lines are elements by choice`() async {
    let text = "{\"id\":1}\nnonsense\n{\"id\":2}"
    let (rows, error) = await collected(
      ResponseBody(Array(text.utf8)).jsonLines(of: Row.self, onInvalid: .yield))
    #expect(error == nil)
    #expect(rows.count == 3)
    #expect((try? rows[0].get()) == Row(id: 1))
    if case .failure(let invalid) = rows[1] {
      #expect(invalid.number == 2)
      #expect(invalid.bytes == BodyChunk(Array("nonsense".utf8)))
      #expect(invalid.error.kind == .invalidRecord)
    } else {
      Issue.record("the second line is no failure")
    }
  }

  @Test func `skipped lines can be watched`() async {
    let seen = AsyncStream<Int64>.makeStream()
    let body = ResponseBody(Array("x\n{\"id\":2}\ny\n".utf8))
    let (rows, _) = await collected(
      body.jsonLines(of: Row.self, onInvalid: .skip { seen.continuation.yield($0.number) }))
    seen.continuation.finish()
    var numbers: [Int64] = []
    for await number in seen.stream { numbers.append(number) }
    #expect(rows == [Row(id: 2)])
    #expect(numbers == [1, 3])
  }

  @Test func `compact JSON lines keep numbers and strings as they came`() async {
    await everyCut(
      " { \"a\" : 1.500 }\r\n\n[ \"x y\" ]",
      [BodyChunk(Array("{\"a\":1.500}".utf8)), BodyChunk(Array("[\"x y\"]".utf8))]
    ) { $0.compactJSONLines() }
    await everyCut("1\n\n{]\n2", [BodyChunk(Array("1".utf8))], kind: .invalidRecord) { $0.compactJSONLines() }
    let (_, error) = await collected(ResponseBody(Array("1\n\n{]\n".utf8)).compactJSONLines())
    #expect(error?.message.contains("line 3 ") == true)
  }

  @Test func `a JSON text sequence, repeated separators and a cut number included`() async {
    await everyCut("\u{1E}1\n\u{1E}\u{1E}{\"a\":\n2}\n\u{1E}\"x\"", [1, 7, 7]) {
      $0.jsonSequence(of: AnyNumber.self).map(\.value)
    }
    let text = "\u{1E}12\n\u{1E}34\u{1E}56\n"
    await everyCut(text, [12, 56]) { $0.jsonSequence(of: Int.self, onInvalid: .skip) }
    await everyCut(text, [12], kind: .invalidRecord) { $0.jsonSequence(of: Int.self) }
    await everyCut("[1]\n", [Int](), kind: .invalidRecord) { $0.jsonSequence(of: Int.self) }
  }

  /// The number, or 7 for anything else.
  struct AnyNumber: Decodable, Sendable {
    let value: Int
    init(from decoder: any Decoder) throws {
      value = (try? decoder.singleValueContainer().decode(Int.self)) ?? 7
    }
  }

  @Test func `elements of an array at a path are decoded at every cut`() async {
    let text = #"{"data":{"items":[{"id":1,"text":"é"},{"id":2}],"n":2},"x":[]}"#
    await everyCut(text, [Row(id: 1, text: "é"), Row(id: 2)]) {
      $0.jsonElements(of: Row.self, at: "data.items")
    }
    await everyCut("[1,2]", [1, 2]) { $0.jsonElements(of: Int.self) }
    await everyCut("[1,\"a\",2]", [1], kind: .invalidRecord) { $0.jsonElements(of: Int.self) }
    await everyCut("[1,\"a\",2]", [1, 2]) { $0.jsonElements(of: Int.self, onInvalid: .skip) }
    await everyCut("[1,2", [1], kind: .truncated) { $0.jsonElements(of: Int.self) }
    let (_, error) = await collected(ResponseBody(Array("[1,\"a\"]".utf8)).jsonElements(of: Int.self))
    #expect(error?.message.contains("element 2 ") == true)
  }

  @Test func `a dotted text is a path and an array literal its steps`() {
    #expect(("data.items" as JSONArrayPath).steps == ["data", "items"])
    #expect((["a.b", "c"] as JSONArrayPath).steps == ["a.b", "c"])
    #expect(JSONArrayPath.root.steps.isEmpty)
  }

  @Test func `what came before a failure of the body is delivered`() async {
    let failure = HTTPError(.truncated, phase: .body, message: "cut")
    let (lines, error) = await collected(
      ResponseBody(pieces: [Array("a\nb\nc".utf8)], failure: failure).lines)
    #expect(lines == ["a", "b"])
    #expect(error?.kind == .truncated)
  }

  @Test func `a body can be read once, as values too`() async {
    let body = ResponseBody(Array("a\n".utf8))
    _ = await collected(body.lines)
    #expect(await collected(body.lines).1?.kind == .alreadyConsumed)
    #expect(await collected(body.jsonLines(of: Int.self)).1?.kind == .alreadyConsumed)
    #expect(await collected(body.limited(to: .bytes(1))).1?.kind == .alreadyConsumed)
  }

  @Test func `a framer of one's own`() async {
    struct Pairs: ByteFramer {
      var held: [UInt8] = []
      mutating func feed(_ bytes: BodyChunk, into elements: inout [BodyChunk]) {
        held += bytes
        while held.count >= 2 {
          elements.append(BodyChunk(held.prefix(2)))
          held.removeFirst(2)
        }
      }
      mutating func finish(into elements: inout [BodyChunk]) throws(HTTPError) {
        if !held.isEmpty { throw HTTPError(.truncated, phase: .decode, message: "half a pair") }
      }
    }
    await everyCut("1234", [12, 34]) { $0.decoded(as: Int.self, by: Pairs()) }
    await everyCut("12345", [BodyChunk(Array("12".utf8)), BodyChunk(Array("34".utf8))], kind: .truncated) {
      $0.decoded(by: Pairs())
    }
    await everyCut("12x456", [12, 56]) { $0.decoded(as: Int.self, by: Pairs(), onInvalid: .skip) }
  }

  @Test func `a body over its limit fails in place of the chunk that passes it`() async {
    let (chunks, error) = await collected(ResponseBody(pieces: [[1, 2], [3], [4]]).limited(to: .bytes(3)))
    #expect(chunks.count == 2)
    #expect(error?.kind == .bodyTooLarge)
    #expect(await collected(ResponseBody(pieces: [[1, 2], [3]]).limited(to: .bytes(3))).1 == nil)
  }

  @Test func `long bodies come in batches of at most 32 KiB`() async {
    let text = Array(String(repeating: "0123456789\n", count: 20_000).utf8)
    let (batches, _) = await collected(ResponseBody(text).byteLines.batches)
    #expect(batches.reduce(0) { $0 + $1.count } == 20_000)
    #expect(batches.allSatisfy { $0.count <= (32 << 10) / 11 + 1 })
  }

  @Test func `elements that are decoded together are those that are decoded alone`() async {
    let numbers = (0..<500).map { $0.isMultiple(of: 97) ? "\"x\"" : "\($0)" }
    let text = Array("[\(numbers.joined(separator: ","))]".utf8)
    let expected = (0..<500).filter { !$0.isMultiple(of: 97) }
    let (values, error) = await collected(ResponseBody(text).jsonElements(of: Int.self, onInvalid: .skip))
    #expect(values == expected)
    #expect(error == nil)
    let (results, _) = await collected(ResponseBody(text).jsonElements(of: Int.self, onInvalid: .yield))
    #expect(results.count == 500)
    let bad = results.compactMap { result -> Int64? in
      if case .failure(let invalid) = result { invalid.number } else { nil }
    }
    #expect(bad == [1, 98, 195, 292, 389, 486])
  }

  @Test func `random bytes never trap a framer and mean the same whatever the cuts`() async {
    var generator = SeededGenerator(seed: 7464)
    let words = ["1", "\n", "\r\n", "\u{1E}", "{\"a\": 2}", "[", "\"", " ", "é", "x", "\r", "null"]
    for _ in 0..<600 {
      var bytes: [UInt8] = []
      for _ in 0..<generator.next(below: 20) {
        bytes += Array(words[generator.next(below: words.count)].utf8)
      }
      let pieces = generator.pieces(of: bytes)
      func check<Value: Equatable & Sendable>(
        _ read: (ResponseBody) -> some AsyncSequence<Value, HTTPError>
      ) async {
        let (whole, failure) = await collected(read(ResponseBody(bytes)))
        let (cut, otherFailure) = await collected(read(ResponseBody(pieces: pieces)))
        #expect(whole == cut, "\(bytes)")
        #expect(failure?.kind == otherFailure?.kind, "\(bytes)")
        #expect(failure?.message == otherFailure?.message, "\(bytes)")
      }
      await check { $0.lines(limit: .bytes(6)) }
      await check { $0.lines(endingWith: .any, limit: .bytes(6)) }
      await check { $0.lines(endingWith: .carriageReturnLineFeed, limit: .bytes(6)) }
      await check { $0.compactJSONLines(limit: .bytes(12)) }
      await check { $0.jsonLines(of: Int.self, onInvalid: .skip, limit: .bytes(12)) }
      await check { $0.jsonSequence(of: Int.self, onInvalid: .skip, limit: .bytes(12)) }
    }
  }
}
