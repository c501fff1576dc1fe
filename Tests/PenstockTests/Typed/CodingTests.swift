import Foundation
@testable import Penstock
import PenstockTesting
import StreamCore
import Testing

struct CodingTests {
  private struct Event: Codable, Sendable, Equatable {
    var createdAt: Date
    var userID: Int? = nil
  }

  private static let date = Date(timeIntervalSince1970: 1_700_000_000.25)

  private func text(_ coding: JSONCoding, _ event: Event = Event(createdAt: date)) throws -> String {
    guard let bytes = try coding.encode(event).wholeForTests else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func read(_ coding: JSONCoding, _ text: String) throws -> Event {
    try coding.decode(Event.self, from: Array(text.utf8), headers: [:])
  }

  @Test func `the presets write dates and names`() throws {
    #expect(try text(.iso8601) == #"{"createdAt":"2023-11-14T22:13:20Z"}"#)
    #expect(try text(.iso8601WithFractions) == #"{"createdAt":"2023-11-14T22:13:20.250Z"}"#)
    #expect(try text(.unixSeconds) == #"{"createdAt":1700000000.25}"#)
    #expect(try text(.unixMilliseconds) == #"{"createdAt":1700000000250}"#)
    #expect(try text(.webAPI) == #"{"created_at":"2023-11-14T22:13:20Z"}"#)
    #expect(try text(.webAPIWithFractions) == #"{"created_at":"2023-11-14T22:13:20.250Z"}"#)
    #expect(try text(.dates(format: "yyyy-MM-dd HH:mm")) == #"{"createdAt":"2023-11-14 22:13"}"#)
    #expect(try text(.snakeCase).hasPrefix(#"{"created_at":"#))
  }

  @Test func `the presets read what they write`() throws {
    for coding in [
      JSONCoding.standard, .snakeCase, .iso8601WithFractions, .unixSeconds, .unixMilliseconds,
      .webAPIWithFractions,
    ] {
      let event = Event(createdAt: Self.date)
      #expect(abs(try read(coding, try text(coding)).createdAt.timeIntervalSince(event.createdAt)) < 0.001)
    }
  }

  @Test(arguments: [
    "2023-11-14T22:13:20Z", "2023-11-14T22:13:20.000Z", "2023-11-14T23:13:20+01:00",
    "2023-11-14T17:13:20-0500",
    "2023-11-14t22:13:20z", "2023-11-14 22:13:20Z", "2023-11-14T22:13:20,0Z",
  ]) func `ISO 8601 is read with and without fractions, and with any offset`(_ text: String) {
    #expect(ISODate.date(text) == Date(timeIntervalSince1970: 1_700_000_000))
  }

  @Test(arguments: [
    "", "2023-13-01", "2023-02-29", "2023-11-14T", "2023-11-14T25:00:00Z", "2023-11-14T22:13:20",
    "20231114T221320Z",
    "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20+1:00", "x2023-11-14", "2023-11-14T22:13:20Z ",
  ]) func `what is no date is refused`(_ text: String) {
    #expect(ISODate.date(text) == nil)
  }

  @Test func `a date of another form says so with its path`() async {
    let error = await failure {
      try RawResponse.forTests(#"{"createdAt":"yesterday"}"#).decode(Event.self, by: JSONCoding.iso8601)
    }
    #expect(
      error?.decoding?.codingPath == "createdAt" && error?.decoding?.reason.contains("yesterday") == true)
  }

  @Test func `a pattern writes and reads`() {
    let pattern = DatePattern("d/M/yy 'at' HH.mm.ss.SSS " + String(repeating: "X", count: 3))
    #expect(pattern.text(Self.date) == "14/11/23 at 22.13.20.250 Z")
    #expect(pattern.date("14/11/23 at 23.13.20.250 +01:00") == Self.date)
    #expect(pattern.date("14/11/23 at 23.13.20.250 +01:00x") == nil)
    #expect(DatePattern("yyyy-MM-dd").date("2024-02-30") == nil)
    #expect(
      DatePattern("yyyyMMddHHmmss").date("20231114221320") == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(DatePattern("SSS").text(Date(timeIntervalSince1970: 0.9996)) == "000")
    #expect(DatePattern("yyyy-MM-dd HH:mm").text(Date(timeIntervalSince1970: -1)) == "1969-12-31 23:59")
  }

  @Test func `encoding and decoding can be set apart, per call`() async throws {
    let api = API("https://h") { $0.api.coding(JSONCoding.webAPI) }
    api.mock.on(.any, .json(#"{"createdAt":1700000000.25}"#))
    let event: Event = try await api.client.path("x").decoding(.unixSeconds).post(Event(createdAt: Self.date))
      .value()
    #expect(event.createdAt == Self.date)
    #expect(api.mock.requests[0].text == #"{"created_at":"2023-11-14T22:13:20Z"}"#)
    _ = try await api.client.path("x").coding(.unixSeconds).post(Event(createdAt: Self.date)).value(
      as: Event.self)
    #expect(api.mock.requests[1].text == #"{"createdAt":1700000000.25}"#)
  }

  @Test func `JSON can be written as literals and looked into`() async throws {
    let json: JSONValue = ["name": "Ann \(1)", "tags": ["a", 1, 1.5, true, nil], "n": -3]
    #expect(json["name"]?.string == "Ann 1" && json["n"]?.int == -3 && json["n"]?.double == -3)
    #expect(
      json["tags"]?.array?.count == 5 && json["tags"]?[3]?.bool == true && json["tags"]?[4]?.isNull == true)
    #expect(json.object?.keys.sorted() == ["n", "name", "tags"] && json["tags"]?[2]?.double == 1.5)
    let api = API("https://h")
    api.mock.on(.any, .status(204))
    try await api.client.path("x").post(["a": [1, "b"]] as JSONValue).send()
    #expect(api.mock.requests[0].text == #"{"a":[1,"b"]}"#)
  }

  @Test func `a custom key form goes both ways`() throws {
    let coding = JSONCoding(
      keys: .custom({ $0.uppercased() }, { $0 == "USERID" ? "userID" : "createdAt" }),
      dates: .form(.unixSeconds),
      sortsKeys: true)
    #expect(
      try text(coding, Event(createdAt: Self.date, userID: 1)) == #"{"CREATEDAT":1700000000.25,"USERID":1}"#)
    #expect(try read(coding, #"{"CREATEDAT":0,"USERID":4}"#).userID == 4)
  }

  @Test func `text is read in the character set that it is in`() {
    #expect(TextCharset("UTF-8")?.text([0xEF, 0xBB, 0xBF, 0xC3, 0xBC]) == "ü")
    #expect(TextCharset("iso-8859-1")?.text([0xFC, 0x80]) == "ü\u{80}")
    #expect(TextCharset("windows-1252")?.text([0x80, 0x99, 0xFC]) == "€™ü")
    #expect(TextCharset("utf-16le")?.text([0xFC, 0x00, 0x3D, 0xD8, 0x00, 0xDE]) == "ü😀")
    #expect(TextCharset("utf-16")?.text([0xFE, 0xFF, 0x00, 0x41]) == "A")
    #expect(TextCharset("utf-16be")?.text([0x00, 0x41, 0x00]) == "A\u{FFFD}")
    #expect(TextCharset("utf-8")?.text([0x41, 0xFF]) == "A\u{FFFD}")
    #expect(TextCharset("koi8-r") == nil)
  }

  @Test func `media types are read with their parameters`() {
    let type = MediaType(#"Application/JSON; Charset="utf-8;x"; q=1"#)
    #expect(type?.essence == "application/json" && type?.parameters == ["charset": "utf-8;x", "q": "1"])
    #expect(MediaType("text") == nil && MediaType("") == nil && MediaType("a/b c") == nil)
    #expect(MediaType("a/b")?.matches("a/*") == true && MediaType("a/b")?.matches("c/*") == false)
    #expect(MediaType("application/x+json")?.matches("*/*+json") == true)
    #expect(MediaType("application/x+json")?.isJSON == true)
  }
}

extension RequestBody {
  var wholeForTests: [UInt8]? {
    if case .bytes(let chunk) = content { return Array(chunk) }
    return nil
  }
}

extension RawResponse {
  static func forTests(_ text: String, _ headers: HTTPFields = [:]) -> RawResponse {
    RawResponse(
      head: ResponseHead(status: 200, headers: headers), bytes: Array(text.utf8), url: "https://h/",
      history: [],
      facts: ExchangeFacts(), method: .get)
  }
}
