import Foundation
import Penstock
import Testing

/// Streams of values as an API writes them.
@Suite struct StreamCodingTests {
  private struct Event: Decodable, Sendable, Equatable {
    let createdAt: Date
    let userName: String?
  }

  private let first = #"{"created_at":"2026-01-01T00:00:00Z","user_name":"Ann"}"#
  private let second = #"{"created_at":"1970-01-01T00:00:01.5Z"}"#
  private let expected = [
    Event(createdAt: Date(timeIntervalSince1970: 1_767_225_600), userName: "Ann"),
    Event(createdAt: Date(timeIntervalSince1970: 1.5), userName: nil),
  ]

  @Test func `lines, sequences and elements are read by a coding`() async {
    let lines = ResponseBody(Array("\(first)\n\(second)\n".utf8)).jsonLines(of: Event.self, coding: .webAPI)
    #expect(await collected(lines).0 == expected)
    let texts = ResponseBody(Array("\u{1E}\(first)\n\u{1E}\(second)\n".utf8))
      .jsonSequence(of: Event.self, coding: .webAPI)
    #expect(await collected(texts).0 == expected)
    let elements = ResponseBody(Array(#"{"items":[\#(first),\#(second)]}"#.utf8))
      .jsonElements(of: Event.self, at: "items", coding: .webAPI)
    #expect(await collected(elements).0 == expected)
  }

  @Test func `a value of another form is an element of its own with a coding too`() async throws {
    let body = ResponseBody(Array("\(first)\n{\"created_at\":\"never\"}\n\(second)".utf8))
    let (rows, error) = await collected(body.jsonLines(of: Event.self, onInvalid: .yield, coding: .webAPI))
    #expect(error == nil)
    try #require(rows.count == 3)
    #expect(throws: InvalidRecord.self) { try rows[1].get() }
    #expect(try rows[2].get() == expected[1])
  }

  @Test func `the data of an event is read by a coding, and what is none names the event`() async throws {
    struct Delta: Decodable, Equatable { let finishReason: String }
    let text =
      "event: delta\nid: 7\ndata: {\"finish_reason\":\ndata: \"é\"}\n\nevent: delta\nid: 8\ndata: [DONE]\n\n"
    let (events, _) = await collected(ResponseBody(Array(text.utf8)).serverSentEvents)
    #expect(try events[0].value(as: Delta.self, coding: .snakeCase) == Delta(finishReason: "é"))
    do {
      _ = try events[1].value(as: Delta.self)
      Issue.record("no error")
    } catch {
      #expect(error.kind == .invalidRecord && error.message.contains("\"delta\" and ID \"8\""))
    }
  }

  @Test func `a decoder of the caller's own is asked itself`() async {
    struct Marked: Decodable, Sendable, Equatable {
      let mark: String?
      init(from decoder: any Decoder) throws {
        mark = CodingUserInfoKey(rawValue: "mark").flatMap { decoder.userInfo[$0] as? String }
      }
    }
    let decoder = JSONDecoder()
    if let key = CodingUserInfoKey(rawValue: "mark") { decoder.userInfo[key] = "seen" }
    let body = ResponseBody(Array("{}\n{}".utf8))
    #expect(
      await collected(body.jsonLines(of: Marked.self, decoder: decoder)).0.map(\.mark) == ["seen", "seen"])
  }
}
