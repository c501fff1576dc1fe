import Foundation
@testable import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Synchronization
import Testing

struct DecodingErrorTests {
  private struct Page: Decodable, Sendable {
    struct Data: Decodable, Sendable {
      let items: [User]
    }
    let data: Data
  }

  private func failing(_ text: String, _ coding: JSONCoding = .standard) async -> HTTPError? {
    await failure {
      try await API(answering: .json(text)).client.path("x").decoding(coding).value(as: Page.self)
    }
  }

  @Test func `a wrong type says where: path, byte and excerpt`() async {
    let text = #"{"data": {"items": [{"id":1,"name":"a"}, {"id": "two","name":"b"}]}}"#
    let error = await failing(text)
    #expect(error?.kind == .decodingFailed && error?.status == 200 && error?.phase == .decode)
    #expect(error?.decoding?.codingPath == "data.items[1].id")
    #expect(error?.decoding?.byteOffset == text.utf8.count - #""two","name":"b"}]}}"#.utf8.count)
    #expect(error?.decoding?.excerpt.contains("two") == true)
    #expect(error?.message.contains("data.items[1].id") == true)
    #expect(error?.response?.text == text && error?.response?.isCut == false)
  }

  @Test func `a missing member is named with its path`() async {
    let error = await failing(#"{"data": {"items": [{"id":1}]}}"#)
    #expect(error?.decoding?.codingPath == "data.items[0].name")
    #expect(error?.decoding?.reason.contains("\"name\"") == true)
    #expect(error?.decoding?.byteOffset == 20)
  }

  @Test func `a null where there must be a value is named`() async {
    let error = await failing(#"{"data": {"items": null}}"#)
    #expect(error?.decoding?.codingPath == "data.items")
  }

  @Test func `broken JSON says at which byte`() async {
    let error = await failing(#"{"data": {"items": [}}"#)
    #expect(error?.decoding?.byteOffset != nil)
    #expect(error?.decoding?.excerpt.hasPrefix(#"{"data""#) == true)
  }

  @Test func `an excerpt is bounded and lies around the place`() async {
    let many = (0..<500).map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
    let error = await failing(#"{"data":{"items":[\#(many),{"id":"here","name":"n"}]}}"#)
    #expect(error?.decoding?.codingPath == "data.items[500].id")
    #expect(error?.decoding.map { $0.excerpt.utf8.count <= 160 && $0.excerpt.contains("here") } == true)
  }

  @Test func `the place is found under a wire name in snake case`() {
    let path: [any CodingKey] = [Key("createdBy"), Key("userID")]
    let text = Array(#"{"a":"}{\"","created_by":{"x":[1,"]"],"user_id":5}}"#.utf8)
    let offset = JSONLocator.offset(of: path, in: text)
    #expect(offset.map { text[$0] } == UInt8(ascii: "5"))
  }

  @Test func `looking for a place in damaged text ends, at every cut`() {
    let path: [any CodingKey] = [Key("a"), Key(1), Key("b")]
    let text = Array(#" { "z\"" : [ {"q":1}, "x" ] , "a" : [ null, { "b" : true } ] } "#.utf8)
    for count in 0...text.count {
      let offset = JSONLocator.offset(of: path, in: Array(text[..<count]))
      if let offset { #expect(offset < count && text[offset] == UInt8(ascii: "t")) }
    }
    #expect(JSONLocator.offset(of: path, in: text) != nil)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<500 {
      var broken = text
      for _ in 0..<3 {
        broken[Int.random(in: 0..<broken.count, using: &generator)] = UInt8.random(
          in: 32...126, using: &generator)
      }
      if let offset = JSONLocator.offset(of: path, in: broken) { #expect(offset < broken.count) }
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(_ index: Int) { (stringValue, intValue) = (String(index), index) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
  }
}

struct APIErrorTests {
  private struct APIError: Error, Decodable, Equatable {
    let code: Int
  }

  @Test func `an API's own error is typed`() async {
    let call = API(answering: .json(#"{"code":17}"#, status: 409)).client.path("x").decodingErrors(
      as: APIError.self)
    let error = await failure { try await call.send() }
    #expect(error?.kind == .httpStatus && error?.apiError(as: APIError.self) == APIError(code: 17))
  }

  @Test func `a client's error type holds for all calls, and a call's own beats it`() async {
    struct Other: Error, Decodable {}
    let api = API(answering: .json(#"{"code":1}"#, status: 400)) {
      $0.api.errorDecoding = .type(APIError.self)
    }
    #expect(await failure { try await api.client.path("x").send() }?.apiError is APIError)
    #expect(
      await failure { try await api.client.path("x").decodingErrors(as: Other.self).send() }?.apiError
        is Other)
  }

  @Test func `a body that isn't the error type leaves the status and the excerpt`() async {
    let call = API(answering: .text("oops", status: 500)).client.path("x").decodingErrors(as: APIError.self)
    let error = await failure { try await call.send() }
    #expect(error?.apiError == nil && error?.response?.text == "oops" && error?.status == 500)
  }

  @Test func `each failure of a call is shown, and may become another one`() async {
    struct Own: Error {}
    struct Bad: Encodable, Sendable { let rate = Double.nan }
    let seen = Mutex<[HTTPError.Kind]>([])
    let api = API("https://h") {
      $0.api.onFailure = { error in
        seen.withLock { $0.append(error.kind) }
        return error
      }
    }
    api.mock.on(.call(.get, "/bad"), .text("no JSON"))
    api.mock.on(.any, .status(404))
    let call = api.client.path("x").onFailure { error in
      error.kind == .httpStatus ? HTTPError(.readFailed, phase: .head, message: "mine") : error
    }
    #expect(await failure { try await call.value(as: User.self) }?.kind == .readFailed)
    #expect(await failure { try await call.send() }?.kind == .readFailed)
    #expect(await failure { try await call.open() }?.kind == .readFailed)
    #expect(await failure { try await call.optionalValue(as: User.self) }?.kind == .readFailed)
    #expect(await failure { try await api.client.path("bad").value(as: User.self) }?.kind == .decodingFailed)
    #expect(await failure { try await api.client.path("..").string() }?.kind == .invalidURL)
    #expect(await failure { try await api.client.path("x").post(Bad()).send() }?.kind == .encodingFailed)
    let pages = api.client.pages(api.client.path("x"), of: User.self, next: .link())
    #expect(await collected(pages).1?.kind == .httpStatus)
    if case .failure(let error) = await call.result(as: User.self) { #expect(error.kind == .readFailed) }
    #expect(
      seen.withLock { $0 } == [
        .readFailed, .readFailed, .readFailed, .readFailed, .decodingFailed, .invalidURL, .encodingFailed,
        .httpStatus, .readFailed,
      ])
  }

  @Test func `the error type may depend on the status`() async {
    let byStatus = ErrorDecoding.byStatus([
      (.oneOf([404]), .type(NoContentError.self)), (.any, .type(APIError.self)),
    ])
    for (status, isFirst) in [(404, true), (500, false)] as [(HTTPStatus, Bool)] {
      let call = API(answering: .json(#"{"code":1}"#, status: status)).client.path("x").errorDecoding(
        byStatus)
      let error = await failure { try await call.send() }
      #expect((error?.apiError is NoContentError) == isFirst)
    }
  }
  private struct NoContentError: Error, Decodable {}

  @Test func `problem details are read without being asked for`() async throws {
    let text =
      #"{"type":"https://h/out","title":"Out of credit","status":403,"detail":"Balance is 30","balance":30,"instance":7}"#
    let answer = MockAnswer.json(
      text, status: 403, headers: ["Content-Type": "application/problem+json; charset=utf-8"])
    let error = await failure { try await API(answering: answer).client.path("x").send() }
    let problem = try #require(error?.problem)
    #expect(problem.type == "https://h/out" && problem.title == "Out of credit" && problem.status == 403)
    #expect(problem.detail == "Balance is 30" && problem.instance == nil)
    #expect(problem.extensions == ["balance": .integer(30)])
    #expect(error?.message.contains("Balance is 30") == true)
    #expect(error?.userMessage == "Balance is 30")
  }

  @Test func `a result can be switched over`() async {
    let call = API(answering: .json(#"{"code":3}"#, status: 422)).client.path("x")
    switch await call.result(as: User.self, error: APIError.self) {
    case .apiError(let error, let response): #expect(error.code == 3 && response.status == 422)
    default: Issue.record("no API error")
    }
    switch await API(answering: .json(#"{"id":1,"name":"a"}"#)).client.path("x").result(as: User.self) {
    case .success(let user): #expect(user.id == 1)
    default: Issue.record("no value")
    }
    switch await API(answering: .json("[]")).client.path("x").result(as: User.self, error: APIError.self) {
    case .failure(let error): #expect(error.kind == .decodingFailed)
    default: Issue.record("no failure")
    }
  }

  @Test(arguments: [
    (#"{"reason":"No seats left."}"#, "No seats left."), (#"{"error":{"message":"Too late"}}"#, "Too late"),
    (#"{"error":"invalid_grant","error_description":"Code expired"}"#, "Code expired"),
    (#"{"title":"T"}"#, "T"),
    ("<html>", "The server refused the request."), (#"{"reason":""}"#, "The server refused the request."),
  ]) func `a message for people is taken from the body where it has one`(_ body: String, _ expected: String)
    async
  {
    let error = await failure { try await API(answering: .json(body, status: 400)).client.path("x").send() }
    #expect(error?.userMessage == expected)
  }

  @Test func `every kind of error has a message for people, without URL or code`() {
    for kind in HTTPError.Kind.allCases {
      let message = HTTPError(kind, phase: .head, message: "m", url: "https://h/secret").userMessage
      #expect(message.hasSuffix(".") && !message.contains("https") && !message.contains(kind.rawValue + "_"))
    }
    for status in [401, 403, 404, 409, 413, 429, 500, 503] as [HTTPStatus] {
      let error = HTTPError(.httpStatus, phase: .head, message: "m", status: status)
      #expect(error.userMessage != "The server refused the request.")
    }
  }

  @Test func `details stay when an error is named later`() {
    let error = HTTPError(.httpStatus, phase: .head, message: "m").adding { $0.apiError = APIError(code: 1) }
    #expect(error.naming(method: .get, url: "https://h/").apiError is APIError)
    #expect(error.at(status: 500, received: 1).apiError is APIError)
  }
}
