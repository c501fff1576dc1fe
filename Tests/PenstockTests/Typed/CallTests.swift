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

  @Test func `forms come from pairs and models, and have parts`() async throws {
    struct Login: Encodable, Sendable {
      let user = "a b"
      let scopes = ["x", "y"]
      let gone: Int? = nil
    }
    let api = API()
    api.mock.on(.any, .status(204))
    let call = api.client.path("x").post()
    try await call.form(["email": "a@b", "n": 1, "none": nil]).send()
    try await call.form(Login(), QueryEncoding(arrays: .comma)).send()
    try await call.bodyEncoder(.form()).body(Login()).send()
    var form = MultipartForm()
    form.add("bio", "text")
    try await call.multipart(form).send()
    _ = try await api.client.send(.form("/x", ["a": "1", "b": "&"]))
    _ = try await api.client.send(.multipart("/x", form, method: .put))
    let requests = api.mock.requests
    #expect(
      requests.map(\.text).prefix(3) == [
        "email=a%40b&n=1", "user=a+b&scopes=x%2Cy", "user=a+b&scopes=x&scopes=y",
      ])
    #expect(requests[0].headers["Content-Type"] == "application/x-www-form-urlencoded")
    #expect(
      requests[3].headers["Content-Type"] == form.contentType && requests[3].text.contains("name=\"bio\""))
    #expect(
      requests[4].text == "a=1&b=%26" && requests[5].method == .put && requests[5].body == requests[3].body)
    let error = await failure { try await call.form(["rate": Double.nan]).send() }
    #expect(error?.kind == .encodingFailed && error?.message.contains("rate") == true)
  }

  @Test func `a model's properties become the parts of a form, its data files`() async throws {
    struct Profile: Encodable, Sendable {
      let name = "Ann"
      let tags = ["x", "y"]
      let picture = Data([0, 255])
      let gone: String? = nil
    }
    let api = API(answering: .status(204))
    try await api.client.path("x").bodyEncoder(.multipart()).post(Profile()).send()
    let request = api.mock.requests[0]
    let type = try #require(request.headers["Content-Type"])
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = String(type.dropFirst("multipart/form-data; boundary=".count))
    let names = ["name=\"name\"", "name=\"tags\"", "name=\"tags\"", "name=\"picture\"; filename=\"picture\""]
    var bytes: [[UInt8]] = []
    var heads: [String] = []
    for try await part in ResponseBody(request.body).multipartParts(boundary: boundary) {
      heads.append(part.headers["Content-Disposition"] ?? "")
      bytes.append(try await part.body.collect(upTo: .kibibytes(1)))
    }
    #expect(heads == names.map { "form-data; " + $0 })
    #expect(bytes == [Array("Ann".utf8), [0x78], [0x79], [0, 255]])
    struct Bad: Encodable, Sendable { let rate = Double.nan }
    let error = await failure { try await api.client.path("x").body(Bad(), as: .multipart()).send() }
    #expect(error?.kind == .encodingFailed && error?.message.contains("rate") == true)
  }

  @Test func `the client's default Content-Type beats the body's`() async throws {
    let api = API("https://h") { $0.headers = ["Content-Type": "application/vnd.x+json"] }
    api.mock.on(.any, .status(204))
    try await api.client.path("x").post(User(id: 1, name: "n")).send()
    #expect(api.mock.requests[0].headers[all: "Content-Type"] == ["application/vnd.x+json"])
  }

  @Test func `a custom encoder makes the body, for a call or a client`() async throws {
    struct Shout: BodyEncoder {
      func encode(_ value: some Encodable) throws -> RequestBody {
        RequestBody.string("\(value)".uppercased()).typed("text/shout")
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
    #expect(error?.message.contains("Bad") == true)
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
      json.method == .post && json.body.contentType == "application/json" && json.headers["X"] == "y")
    #expect(try Request.put("u", json: [1]).method == .put && Request.patch("u", json: [1]).method == .patch)
    let raw = Request.raw("https://h/", [1, 2], contentType: "a/b")
    #expect(raw.method == .post && raw.body.contentType == "a/b" && raw.body.length == 2)
    let file = Request.file("https://h/", path: "/tmp/none")
    #expect(file.method == .put && file.body.contentType == "application/octet-stream")
    let search = try Request.get("https://h/x?a=1#f", query: ["q": "b c", "none": nil, "n": 2])
    #expect(search.method == .get && search.url == "https://h/x?a=1&q=b%20c&n=2#f")
    #expect(throws: HTTPError.self) { try Request.get("https://h/", query: ["x": Double.nan]) }
  }

  @Test func `what finalizes a call comes behind all that branches change`() async throws {
    let api = API(answering: .status(204))
    let signed = api.client.path("x").finalize { request in
      request.headers["X-Signed"] = "\(request.method) \(request.url) \(request.headers["X-Late"] ?? "-")"
    }
    try await signed.path("y").modify { $0.headers["X-Late"] = "1" }.put().send()
    #expect(api.mock.requests[0].headers["X-Signed"] == "PUT https://api.test/x/y 1")
  }

  @Test func `a call has middlewares, retries and values of its own`() async throws {
    struct Tenant: RequestKey { static let defaultValue = "public" }
    let api = API("https://api.test") {
      $0.middlewares = [.processing { $0.headers["X-Tenant"] = $0[Tenant.self] }]
      $0.retry = RetryPolicy(limit: 0)
      $0.retry?.backoff.base = .zero
    }
    api.mock.on(.call(.get, "/flaky"), [.status(503), .status(503), .status(204)])
    api.mock.on(.any, .status(204))
    try await api.client.path("a").setting(Tenant.self, "b").send()
    try await api.client.path("a").middleware(.processing { $0.headers["X-Tenant"] = "own" }).send()
    #expect(api.mock.requests.map { $0.headers["X-Tenant"] } == ["b", "own"])
    try await api.client.path("flaky").retry(limit: 2).send()
    #expect(api.mock.requests.count == 5)
  }
}
