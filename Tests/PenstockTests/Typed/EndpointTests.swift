import Foundation
@testable import Penstock
import PenstockTesting
import StreamCore
import Testing

struct EndpointTests {
  struct GetUser: Endpoint {
    typealias Value = User
    let id: String
    var expand: String?
    var path: RequestPath { "/users/\(id)" }
    var query: [QueryItem] {
      QueryItem("v", 2)
      QueryItem("expand", expand)
    }
    var headers: HTTPFields {
      HeaderField("Language", "fr-FR")
      HeaderField("Client-Version", "2.0")
    }
  }

  struct DeleteUser: Endpoint {
    typealias Value = Void
    let id: Int
    let method = HTTPMethod.delete
    var path: RequestPath { RequestPath("users", id) }
  }

  struct Login: Endpoint {
    typealias Value = NoContent
    struct Failure: Error, Decodable, Equatable { let reason: String }
    let login: String
    let password: String
    let method = HTTPMethod.post
    let path: RequestPath = "/login"
    var body: EndpointBody? { .value(["login": login, "password": password]) }
    var validation: Validation { .statuses(200, 201) }
  }

  @Test func `an endpoint makes its request and gives its value`() async throws {
    let api = API()
    api.mock.on(.call(.get, "/v1/users/*"), .json(#"{"id":7,"name":"Ann"}"#))
    let response = try await api.client.send(GetUser(id: "a/7", expand: "teams"))
    #expect(response.value == User(id: 7, name: "Ann") && response.status == 200)
    let request = api.mock.requests[0]
    #expect(request.url == "https://api.test/v1/users/a%2F7?v=2&expand=teams")
    #expect(request.headers["Language"] == "fr-FR" && request.headers["Client-Version"] == "2.0")
    _ = try await api.client.send(GetUser(id: "7"))
    #expect(api.mock.requests[1].query == "v=2")
  }

  @Test func `the value of an endpoint comes by itself where that is asked for`() async throws {
    let api = API(answering: .json(#"{"id":7,"name":"Ann"}"#))
    let user: User = try await api.client.send(GetUser(id: "7"))
    #expect(user == User(id: 7, name: "Ann"))
    func name(_ user: User) -> String { user.name }
    #expect(try await name(api.client.send(GetUser(id: "7"))) == "Ann")
  }

  @Test func `the outcome of an endpoint can be switched over`() async {
    let endpoint = Login(login: "a", password: "b")
    let refused = await API(answering: .json(#"{"reason":"no"}"#, status: 409)).client.result(endpoint)
    if case .apiError(let error, let response) = refused {
      #expect(error == Login.Failure(reason: "no") && response.status == 409)
    } else {
      Issue.record("not the API's error")
    }
    let lost = await API(answering: .failure(.connectionLost)).client.result(endpoint)
    if case .failure(let error) = lost {
      #expect(error.kind == .connectionLost)
    } else {
      Issue.record("no failure")
    }
    let well = await API(answering: .status(200)).client.result(endpoint)
    if case .success = well {} else { Issue.record("no success") }
  }

  @Test func `an endpoint may ask for its place before the call is made`() async throws {
    struct Directory: Sendable {
      func server(of name: String) async throws(HTTPError) -> String {
        if name == "none" { throw HTTPError(.invalidURL, phase: .queue, message: "no server of \(name)") }
        return "https://\(name).test/api"
      }
    }
    struct Books: Endpoint {
      typealias Value = [User]
      let name: String
      let path: RequestPath = "/books"
      func prepare(_ call: Call) async throws(HTTPError) -> Call {
        call.absolute(url: try await Directory().server(of: name)).path(path)
      }
    }
    let api = API(answering: .json("[]"))
    let books: [User] = try await api.client.send(Books(name: "east"))
    #expect(books.isEmpty && api.mock.requests.map(\.url) == ["https://east.test/api/books"])
    for try await _ in api.client.pages(Books(name: "west"), next: .number("p"), items: { $0 }) {}
    #expect(api.mock.requests.last?.url == "https://west.test/api/books")
    let error = await failure { try await api.client.send(Books(name: "none")) }
    #expect(error?.kind == .invalidURL && api.mock.requests.count == 2)
  }

  @Test func `an endpoint without a value ignores the body`() async throws {
    let api = API(answering: .text("gone"))
    try await api.client.send(DeleteUser(id: 3))
    #expect(api.mock.requests[0].method == .delete && api.mock.requests[0].path == "/users/3")
  }

  @Test func `an endpoint has its own body, statuses and error type`() async throws {
    let api = API()
    api.mock.on(.call(.post, "/v1/login"), [.status(201), .json(#"{"reason":"no"}"#, status: 202)])
    let endpoint = Login(login: "a", password: "b")
    _ = try await api.client.send(endpoint)
    let body = try JSONDecoder().decode([String: String].self, from: Data(api.mock.requests[0].body))
    #expect(body == ["login": "a", "password": "b"])
    let error = await failure { try await api.client.send(endpoint) }
    #expect(
      error?.kind == .httpStatus && error?.apiError(as: Login.Failure.self) == Login.Failure(reason: "no"))
  }

  @Test func `an endpoint may have an error of its own for a status`() async {
    enum BookError: Error, Equatable { case notFound(String) }
    struct GetBook: Endpoint {
      typealias Value = User
      let id: String
      var path: RequestPath { "/books/\(id)" }
      func failure(for status: HTTPStatus) -> (any Error)? { status == 404 ? BookError.notFound(id) : nil }
    }
    let error = await failure { try await API(answering: .status(404)).client.send(GetBook(id: "x")) }
    #expect(error?.apiError(as: BookError.self) == .notFound("x"))
    let other = await failure { try await API(answering: .status(500)).client.send(GetBook(id: "x")) }
    #expect(other?.apiError == nil && other?.status == 500)
  }

  @Test func `an endpoint may choose its coding, its limits, and the whole answer`() async throws {
    struct Draft: Encodable, Sendable { let createdAt = 1 }
    struct Report: Endpoint {
      typealias Value = RawResponse
      let method = HTTPMethod.put
      let path = RequestPath(template: "/reports/{year}", ["year": 2026])
      var body: EndpointBody? { .value(Draft()) }
      var encoder: (any BodyEncoder)? { JSONCoding.snakeCase }
      func configure(_ call: Call) -> Call { call.timeout(.seconds(5)).query("last", true) }
    }
    let api = API(answering: .text("raw"))
    let response = try await api.client.send(Report())
    #expect(response.value.bytes == Array("raw".utf8))
    let request = api.mock.requests[0]
    #expect(request.url == "https://api.test/reports/2026?last=true" && request.text == #"{"created_at":1}"#)
    #expect(request.options.timeouts.total == .seconds(5))
  }

  @Test func `an endpoint's value may be made by hand`() async throws {
    struct Count: Endpoint {
      typealias Value = Int
      let path: RequestPath = "/count"
      func value(from response: RawResponse, by decoder: any BodyDecoder) throws(HTTPError) -> Int {
        response.headerInt("X-Count") ?? 0
      }
    }
    let api = API(answering: .status(200, headers: ["X-Count": "12"]))
    #expect(try await api.client.send(Count()).value == 12)
    #expect(try await api.client.call(Count()).raw().status == 200)
  }

  @Test func `an endpoint's bad path is told before anything is sent`() async {
    let api = API()
    let error = await failure { try await api.client.send(GetUser(id: "..")) }
    #expect(error?.kind == .invalidURL && api.mock.requests.isEmpty)
  }

  @Test func `bodies of endpoints are raw, text and files too`() async throws {
    let bodies: [(EndpointBody, String)] = [
      (.raw([65], contentType: "a/b"), "a/b"), (.text("A"), "text/plain; charset=utf-8"),
      (.made(RequestBody.string("A").typed("c/d")), "c/d"),
    ]
    for (body, type) in bodies {
      struct Upload: Endpoint {
        typealias Value = Void
        let method = HTTPMethod.post
        let path: RequestPath = "/u"
        let body: EndpointBody?
      }
      let api = API(answering: .status(200))
      try await api.client.send(Upload(body: body)).value
      #expect(api.mock.requests[0].headers["Content-Type"] == type && api.mock.requests[0].text == "A")
    }
  }
}
