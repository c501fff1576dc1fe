import Foundation
@testable import Penstock
import PenstockTesting
import StreamCore
import Testing

struct ValueTests {
  private static let user = User(id: 7, name: "Ann")
  private static let json = #"{"id":7,"name":"Ann"}"#

  @Test func `the value alone`() async throws {
    let call = API(answering: .json(Self.json)).client.path("users", 7).get()
    let user: User = try await call.value()
    #expect(user == Self.user)
    #expect(try await call.value(as: User.self) == Self.user)
  }

  @Test func `the value with status, fields, bytes, URL and timings`() async throws {
    let api = API(
      answering: .json(Self.json, status: 201, headers: ["X-Request-ID": "r1", "X-N": "3", "X-D": "1.5"]))
    let response: TypedResponse<User> = try await api.client.path("users").post(Self.user).response()
    #expect(response.value == Self.user && response.status == 201)
    #expect(response.header("x-request-id") == "r1")
    #expect(response.bytes == Array(Self.json.utf8) && response.url == "https://api.test/users")
    #expect(response.raw.headerInt("x-n") == 3 && response.raw.headerDouble("x-d") == 1.5)
    #expect(response.raw.headerInt("x-d") == nil && response.timings.dns == nil)
    let pair = try await api.client.path("users").valueAndHeaders(as: User.self)
    #expect(pair.value == Self.user && pair.headers["X-N"] == "3")
  }

  @Test func `the value at a place in the answer`() async throws {
    let text =
      #"{"data":{"items":[{"id":1,"name":"a"},{"id":2,"name":"b","user_tags":["x","y"]}],"next_page":2}}"#
    let call = API(answering: .json(text)).client.path("x")
    #expect(try await call.value(as: [User].self, at: "data.items").map(\.id) == [1, 2])
    #expect(try await call.value(as: String.self, at: "data.items.1.name") == "b")
    #expect(try await call.value(as: String.self, at: "data.items.1.user_tags.1") == "y")
    #expect(try await call.decoding(.snakeCase).value(as: Int.self, at: "data.nextPage") == 2)
    #expect(try await call.value(as: JSONValue.self, at: "")["data"]?["next_page"]?.int == 2)
    let missing = await failure { try await call.value(as: User.self, at: "data.user") }
    #expect(missing?.kind == .decodingFailed && missing?.decoding?.codingPath == "data.user")
    let outside = await failure { try await call.value(as: User.self, at: "data.items.7") }
    #expect(outside?.kind == .decodingFailed)
  }

  @Test func `Accept says what the decoder reads, unless request or client say otherwise`() async throws {
    let api = API(answering: .json(Self.json))
    _ = try await api.client.path("a").value(as: User.self)
    _ = try await api.client.path("a").header("Accept", "x/y").value(as: User.self)
    _ = try await api.client.path("a").raw()
    #expect(api.mock.requests.map { $0.headers["Accept"] } == ["application/json", "x/y", "*/*"])
    let own = API(answering: .json(Self.json)) { $0.headers["Accept"] = "c/d" }
    _ = try await own.client.path("a").value(as: User.self)
    #expect(own.mock.requests[0].headers[all: "Accept"] == ["c/d"])
  }

  @Test func `String, Data and bytes take the body as it is, and Void nothing`() async throws {
    let call = API(answering: .text("not JSON")).client.path("x")
    #expect(try await call.value(as: String.self) == "not JSON")
    #expect(try await call.value(as: Data.self) == Data("not JSON".utf8))
    #expect(try await call.value(as: [UInt8].self) == Array("not JSON".utf8))
    #expect(try await call.string() == "not JSON")
    #expect(try await call.bytes().count == 8)
    #expect(try await call.data().count == 8)
    try await call.value()
    try await call.send()
  }

  @Test func `an empty body is what the type says`() async throws {
    let call = API(answering: .status(200)).client.path("x")
    #expect(try await call.value(as: String.self) == "")
    #expect(try await call.value(as: [UInt8].self).isEmpty)
    #expect(try await call.value(as: User?.self) == nil)
    #expect(try await call.value(as: NoContent.self) == NoContent())
    let error = await failure { try await call.value(as: User.self) }
    #expect(
      error?.kind == .decodingFailed && error?.message.contains("empty") == true && error?.status == 200)
  }

  @Test func `an optional value is nil for 204, 205 and an empty body, and for 404 by choice`() async throws {
    for status in [204, 205, 200] as [HTTPStatus] {
      let call = API(answering: .status(status)).client.path("x")
      #expect(try await call.optionalValue(as: User.self) == nil)
    }
    let missing = API(answering: .json("{}", status: 404)).client.path("x")
    #expect(try await missing.optionalValue(as: User.self, notFoundIsNil: true) == nil)
    #expect(await failure { try await missing.optionalValue(as: User.self) }?.kind == .httpStatus)
    let there = API(answering: .json(Self.json)).client.path("x")
    #expect(try await there.optionalValue(as: User.self) == Self.user)
  }

  @Test func `an optional value is nil for null, unless it is text`() async throws {
    let call = API(answering: .json(" null\n")).client.path("x")
    #expect(try await call.optionalValue(as: User.self) == nil)
    #expect(try await call.optionalValue(as: String.self) == " null\n")
    #expect(try await call.value(as: User?.self) == nil)
    let other = API(answering: .json("nulls")).client.path("x")
    #expect(await failure { try await other.optionalValue(as: User.self) }?.kind == .decodingFailed)
  }

  @Test func `a raw answer has any status, or accepted ones alone`() async throws {
    let call = API(answering: .json(#"{"a":[1,{"b":null}]}"#, status: 418)).client.path("x")
    let raw = try await call.raw()
    #expect(raw.status == 418 && !raw.isSuccess && raw.data.count == raw.bytes.count)
    #expect(try raw.json()["a"]?[0]?.int == 1)
    #expect(raw.prettyPrintedJSON?.split(separator: "\n").count == 8)
    #expect(await failure { try await call.raw(allowHTTPError: false) }?.status == 418)
    #expect(RawResponse.forTests("no").prettyPrintedJSON == nil)
  }

  @Test func `text is in the character set that the answer names`() async throws {
    let answer = MockAnswer.status(
      200, headers: ["Content-Type": "text/plain; charset=ISO-8859-1"], body: [0xFC])
    #expect(try await API(answering: answer).client.path("x").string() == "ü")
    let unknown = MockAnswer.status(
      200, headers: ["Content-Type": "text/plain; charset=klingon"], body: [0xFC])
    let error = await failure { try await API(answering: unknown).client.path("x").string() }
    #expect(error?.kind == .decodingFailed && error?.message.contains("klingon") == true)
  }

  @Test func `a failed status is never a decoding error`() async {
    let page = "<html>Bad Gateway</html>"
    let answer = MockAnswer.status(
      502, headers: ["Content-Type": "text/html", "Set-Cookie": "a=b"], body: page.utf8)
    let error = await failure { try await API(answering: answer).client.path("x").value(as: User.self) }
    #expect(error?.kind == .httpStatus && error?.status == 502 && error?.decoding == nil)
    #expect(error?.response?.text == page && error?.response?.isCut == false)
    #expect(error?.response?.header("content-type") == "text/html")
    #expect(error?.url == "https://api.test/x" && error?.method == "GET")
    #expect(error?.description.contains("a=b") == false)
  }

  @Test func `the body of a failed answer is kept up to the limit`() async {
    let answer = MockAnswer.stream(
      [[UInt8]](repeating: [UInt8](repeating: 65, count: 1000), count: 100), status: 500)
    let api = API(answering: answer) { $0.api.errorBodyLimit = .bytes(2500) }
    let error = await failure { try await api.client.path("x").send() }
    #expect(error?.response?.body.count == 2500 && error?.response?.isCut == true)
  }

  @Test func `a failed answer whose body breaks off is still a failed answer`() async {
    let answer = MockAnswer.steps([.head(500), .bytes([65]), .fail(.receiveFailed)])
    let error = await failure { try await API(answering: answer).client.path("x").send() }
    #expect(error?.kind == .httpStatus && error?.response?.body == [65] && error?.response?.isCut == true)
  }

  @Test func `a body above the limit is refused`() async {
    let call = API(answering: .text("12345")).client.path("x").bodyLimit(.bytes(4))
    let error = await failure { try await call.string() }
    #expect(error?.kind == .bodyTooLarge && error?.url == "https://api.test/x")
  }

  @Test func `an open answer streams its body once the status is accepted`() async throws {
    let response = try await API(answering: .stream([[1], [2, 3]])).client.path("x").open()
    #expect(try await response.body.collect(upTo: .bytes(10)) == [1, 2, 3])
    let error = await failure { try await API(answering: .text("no", status: 403)).client.path("x").open() }
    #expect(error?.status == 403 && error?.response?.text == "no")
    let typed = API(answering: .text("no")).client.path("x").validate(.contentType("application/json"))
    #expect(await failure { try await typed.open() }?.kind == .validationFailed)
  }

  @Test func `what goes wrong on the way is passed on`() async {
    let call = API(answering: .failure(.connectFailed)).client.path("x")
    #expect(await failure { try await call.send() }?.kind == .connectFailed)
    let cut = API(answering: .steps([.head(200), .bytes([1]), .fail(.truncated)])).client.path("x")
    #expect(await failure { try await cut.bytes() }?.kind == .truncated)
  }

  @Test func `cancelling the task ends the call`() async throws {
    let gate = MockGate()
    let api = API(answering: MockAnswer.json(Self.json).after(gate))
    let task = Task { try await api.client.path("x").value(as: User.self) }
    await gate.arrived()
    task.cancel()
    await #expect(throws: HTTPError.cancelled) { try await task.value }
  }
}
