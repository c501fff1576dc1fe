import Foundation
import Penstock
import StreamCore
import Testing

/// Input that somebody made to break a reader.
@Suite struct HostileInputTests {
  private struct Row: Decodable, Sendable, Equatable {
    var id: Double
  }

  private static let deep = String(repeating: "[", count: 100_000)
  private static let deepObjects = String(repeating: "{\"a\":", count: 100_000)

  @Test(arguments: [deep, deep + String(repeating: "]", count: 100_000), deepObjects])
  func `a hundred thousand containers in each other are an error, not a stack that is used up`(
    _ text: String
  ) async {
    let body = { ResponseBody(Array(text.utf8)) }
    #expect(await collected(body().jsonLines(of: JSONValue.self)).1?.kind == .invalidRecord)
    #expect(await collected(body().compactJSONLines()).1?.kind == .invalidRecord)
    #expect(await collected(body().jsonElements(of: JSONValue.self)).1?.kind == .invalidRecord)
    let inside = ResponseBody(Array("{\"items\":[\(text)]}".utf8))
    #expect(await collected(inside.jsonElements(of: JSONValue.self, at: "items")).1?.kind == .invalidRecord)
    let sequence = ResponseBody(Array("\u{1E}\(text)\n".utf8))
    #expect(await collected(sequence.jsonSequence(of: JSONValue.self)).1?.kind == .invalidRecord)
  }

  @Test func `numbers beyond any type are values or errors, and are kept as they came where nobody decodes`()
    async
  {
    let digits = String(repeating: "9", count: 10_000)
    for number in [digits, "1e999999999", "-1E-999999999", "0.\(digits)", "1e\(digits)"] {
      let line = "{\"id\":\(number)}"
      let (rows, error) = await collected(ResponseBody(Array(line.utf8)).jsonLines(of: Row.self))
      #expect(rows.count == 1 || error?.kind == .invalidRecord, "\(number.prefix(20))")
      let (kept, fault) = await collected(ResponseBody(Array(line.utf8)).compactJSONLines())
      #expect(fault == nil)
      #expect(kept == [BodyChunk(Array(line.utf8))])
    }
  }

  @Test func `bytes that are no UTF-8 are replaced in text, and errors in JSON`() async {
    let broken: [[UInt8]] = [
      [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80],
    ]
    for bytes in broken {
      let (lines, error) = await collected(ResponseBody([0x61] + bytes + [0x0A, 0x62]).lines)
      #expect(error == nil)
      #expect(lines.last == "b")
      #expect(lines.first?.hasPrefix("a\u{FFFD}") == true)
      let string = [0x22] + bytes + [0x22]
      #expect(await collected(ResponseBody(string).compactJSONLines()).1?.kind == .invalidRecord)
      #expect(await collected(ResponseBody(string).jsonLines(of: String.self)).1?.kind == .invalidRecord)
      let array = [0x5B] + string + [0x5D]
      #expect(await collected(ResponseBody(array).jsonElements(of: String.self)).1?.kind == .invalidRecord)
      let (events, _) = await collected(
        ResponseBody(Array("data: ".utf8) + bytes + [10, 10]).serverSentEvents)
      #expect(events.first?.data.contains("\u{FFFD}") == true)
    }
  }

  @Test func `halves of surrogate pairs are errors of their record alone`() async {
    for text in [#""\ud800""#, #""\udc00x""#, #""\ud800\ud800""#] {
      let (values, error) = await collected(
        ResponseBody(Array("\(text)\n\"ok\"\n".utf8)).jsonLines(of: String.self, onInvalid: .skip))
      #expect(error == nil)
      #expect(values.last == "ok")
    }
  }

  @Test func `a byte order mark before JSON is passed over, at every cut`() async {
    let mark = "\u{FEFF}"
    func cuts(_ text: String) -> [ResponseBody] {
      (0...text.utf8.count).map { ResponseBody(text, cut: $0) } + [
        ResponseBody(pieces: Array(text.utf8).map { [$0] })
      ]
    }
    for body in cuts("\(mark){\"id\":1}\n{\"id\":2}") {
      let (rows, error) = await collected(body.jsonLines(of: Row.self))
      #expect(rows == [Row(id: 1), Row(id: 2)] && error == nil)
    }
    for body in cuts("\(mark)1\n2") {
      let (values, error) = await collected(body.compactJSONLines())
      #expect(values.map { Array($0) } == [[0x31], [0x32]] && error == nil)
    }
    for body in cuts("\(mark)[1,2]") {
      let (values, error) = await collected(body.jsonElements(of: Int.self))
      #expect(values == [1, 2] && error == nil)
    }
    // A part of one is none, and one further on isn't one either.
    for bytes in [[0xEF], [0xEF, 0xBB], [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF]] as [[UInt8]] {
      for pieces in [[bytes + Array("[1]".utf8)], (bytes + Array("[1]".utf8)).map { [$0] }] {
        let (values, error) = await collected(ResponseBody(pieces: pieces).jsonElements(of: Int.self))
        #expect(values.isEmpty && error?.kind == .invalidRecord)
      }
    }
  }
}
