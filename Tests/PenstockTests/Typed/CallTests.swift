import Foundation
@testable import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

struct CallTests {
  @Test func `branches share what they have in common and change what they like`() async throws {
    let api = API()
    api.mock.on(.any, .status(204))
    let users = api.client.path("users").header("X-Trace", "t").query("v", 1)
    let one = users.path(1).header("X-Trace", "one")
    try await one.get().send()
    try await one.delete().send()
    try await users.header("X-Trace", nil).post(User(id: 2, name: "b")).send()
    let requests = api.mock.requests
    #expect(
      requests.map { "\($0.method) \($0.path)" } == [
        "GET /v1/users/1", "DELETE /v1/users/1", "POST /v1/users",
      ])
    #expect(requests.map { $0.headers["X-Trace"] } == ["one", "one", nil])
    #expect(requests.allSatisfy { $0.query == "v=1" })
  }

  @Test func `all methods are there`() async throws {
    let api = API()
    api.mock.on(.any, .status(204))
    let call = api.client.path("x")
    for one in [
      call.get(), call.head(), call.post(), call.put(), call.patch(), call.delete(), call.options(),
      call.trace(),
      call.method(HTTPMethod("PURGE")),
    ] { try await one.send() }
    #expect(
      api.mock.requests.map(\.method.rawValue) == [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE",
      ])
    let error = await failure { try await call.method(HTTPMethod("CONNECT")).send() }
    #expect(error?.kind == .invalidMethod)
  }

  @Test func `a request's fields beat the client's`() async throws {
    let api = API("https://h") { $0.headers = ["X-App": "1", "X-Both": "client"] }
    api.mock.on(.any, .status(204))
    try await api.client.path("x").header("x-both", "request").addingHeader("x-both", 2).send()
    let headers = api.mock.requests[0].headers
    #expect(headers["X-App"] == "1")
    #expect(headers[all: "X-Both"] == ["request", "2"])
    try await api.client.path("x").header("X-App", nil).send()
    #expect(api.mock.requests[1].headers["X-App"] == nil)
  }

  @Test func `fields come from lists, builders and models`() throws {
    struct Trace: Encodable {
      let traceID = "a"
      let spans = [1, 2]
      let gone: String? = nil
    }
    let language: String? = nil
    let request = try API().client.path("x").headers(["A": "1", "A": "2"])
      .headers {
        HeaderField("Client-Version", "2.0")
        HeaderField("Language", language)
        if request2 { HeaderField("B", true) }
      }
      .headers(model: Trace()).request()
    #expect(request.headers[all: "A"] == ["1", "2"])
    #expect(request.headers["Client-Version"] == "2.0" && request.headers["B"] == "true")
    #expect(request.headers["Language"] == nil && request.headers["gone"] == nil)
    #expect(request.headers["trace-id"] == "a" && request.headers[all: "spans"] == ["1", "2"])
  }
  private var request2: Bool { true }

  @Test func `bodies are JSON, text, bytes, files and what is made already`() async throws {
    let api = API()
    api.mock.on(.any, .status(204))
    let folder = try TestFolder()
    let path = folder.path + "/body.bin"
    try Data([1, 2, 3]).write(to: URL(filePath: path))
    let call = api.client.path("x")
    try await call.post(User(id: 1, name: "n")).send()
    try await call.patch(["name": "Ricky"]).send()
    try await call.put("plain ü").send()
    try await call.post([9, 8] as [UInt8]).send()
    try await call.post(Data([7])).send()
    try await call.put().body(file: path, contentType: "image/png").send()
    try await call.post().body(.string("<a/>"), contentType: "application/xml").send()
    try await call.post().body(text: "{}", contentType: "application/json").header("Content-Type", "a/b")
      .send()
    try await call.post(User(id: 1, name: "n")).withoutBody().send()
    let requests = api.mock.requests
    #expect(requests[0].text == #"{"id":1,"name":"n"}"# || requests[0].text == #"{"name":"n","id":1}"#)
    #expect(
      requests.map { $0.headers["Content-Type"] } == [
        "application/json", "application/json", "text/plain; charset=utf-8", "application/octet-stream",
        "application/octet-stream", "image/png", "application/xml", "a/b", nil,
      ])
    #expect(requests[1].text == #"{"name":"Ricky"}"#)
    #expect(requests[2].text == "plain ü")
    #expect(requests[3].body == [9, 8] && requests[4].body == [7] && requests[5].body == [1, 2, 3])
    #expect(requests[8].body.isEmpty)
  }

  @Test func `the client's default Content-Type beats the body's`() async throws {
    let api = API("https://h") { $0.headers = ["Content-Type": "application/vnd.x+json"] }
    api.mock.on(.any, .status(204))
    try await api.client.path("x").post(User(id: 1, name: "n")).send()
    #expect(api.mock.requests[0].headers[all: "Content-Type"] == ["application/vnd.x+json"])
  }

  @Test func `a custom encoder makes the body, for a call or a client`() async throws {
    struct Shout: BodyEncoder {
      func encode(_ value: some Encodable) throws -> EncodedContent {
        EncodedContent(.string("\(value)".uppercased()), contentType: "text/shout")
      }
    }
    let api = API("https://h") { $0.api.encoder = Shout() }
    api.mock.on(.any, .status(204))
    try await api.client.path("x").post(1.5).send()
    try await api.client.path("x").encoding(.standard).post([true]).send()
    try await api.client.path("x").post().body(7, as: .plainText).send()
    #expect(api.mock.requests.map(\.text) == ["1.5", "[true]", "7"])
    #expect(api.mock.requests[0].headers["Content-Type"] == "text/shout")
  }

  @Test func `a value that can't be encoded is named, and nothing is sent`() async {
    struct Bad: Encodable, Sendable { let rate = Double.infinity }
    let api = API()
    let error = await failure { try await api.client.path("x").post(Bad()).send() }
    #expect(error?.kind == .encodingFailed && error?.message.contains("rate") == true)
    let plain = await failure { _ = try Request.post("https://h/", json: Bad()) }
    #expect(plain?.kind == .encodingFailed && plain?.message.contains("Bad") == true)
    #expect(api.mock.requests.isEmpty)
  }

  @Test func `limits, priority, redirects and any other choice are the call's own`() throws {
    let request = try API("https://h") { $0.timeouts.idle = .seconds(9) }.client.path("x")
      .timeout(.seconds(3)).priority(7).redirects(.none).setting(\.isLongLived, true)
      .modify { $0.secretHeaders.append("X-Key") }.request()
    #expect(request.timeouts?.total == .seconds(3) && request.timeouts?.idle == .seconds(9))
    #expect(request.priority == 7 && request.redirects?.limit == 0 && request.isLongLived)
    #expect(request.secretHeaders == ["X-Key"])
  }

  @Test func `a change that fails fails the call before anything is sent`() async {
    struct Own: Error {}
    let api = API()
    let error = await failure { try await api.client.path("x").modify { _ in throw Own() }.send() }
    #expect(error?.kind == .invalidConfiguration && error?.apiError(as: Own.self) != nil)
    #expect(api.mock.requests.isEmpty)
  }

  @Test func `plain constructors make JSON, raw and file requests`() async throws {
    let json = try Request.post("https://h/", json: ["a": 1], headers: ["X": "y"])
    #expect(
      json.method == .post && json.headers["Content-Type"] == "application/json" && json.headers["X"] == "y")
    #expect(try Request.put("u", json: [1]).method == .put && Request.patch("u", json: [1]).method == .patch)
    let raw = Request.raw("https://h/", [1, 2], contentType: "a/b")
    #expect(raw.method == .post && raw.headers["Content-Type"] == "a/b" && raw.body.length == 2)
    let file = Request.file("https://h/", path: "/tmp/none")
    #expect(file.method == .put && file.headers["Content-Type"] == "application/octet-stream")
  }
}
