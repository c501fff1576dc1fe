import Foundation
@testable import Penstock
import PenstockTesting
import Testing

struct PathTests {
  private let client = API().client

  private func url(_ call: Call) throws -> String { try call.request().url }

  @Test func `a path is built piece by piece`() throws {
    #expect(try url(client.path("users").path(1)) == "https://api.test/v1/users/1")
    #expect(
      try url(client.path("sessions").path("abc", "events", 7)) == "https://api.test/v1/sessions/abc/events/7"
    )
    #expect(try url(client("users", 42)) == "https://api.test/v1/users/42")
    #expect(try url(client("users")("42")("files")) == "https://api.test/v1/users/42/files")
  }

  @Test(arguments: ["users", "/users", "users/", "/users/", "//users//", "  users \n"])
  func `slashes and white space at the ends count for nothing`(_ path: String) throws {
    #expect(try url(client.path(path)) == "https://api.test/v1/users")
  }

  @Test func `slashes inside separate, and double ones are one`() throws {
    #expect(try url(client.path("a/b//c")) == "https://api.test/v1/a/b/c")
  }

  @Test func `slashes can be kept inside a segment`() throws {
    #expect(try url(client.path("a/b", slashes: .keep)) == "https://api.test/v1/a%2Fb")
  }

  @Test func `every type of segment has its text`() throws {
    enum Sort: String, URLValue { case newest }
    let id = try #require(UUID(uuidString: "8B0E6B0A-6C3F-4C88-9A4E-0B8A0D0C7F11"))
    let call = client.path(
      "s" as Substring, 1, -2 as Int8, 3 as UInt64, 1.5, 2.25 as Float, Decimal(string: "10.50") ?? 0, true,
      id,
      Sort.newest)
    #expect(
      try url(call)
        == "https://api.test/v1/s/1/-2/3/1.5/2.25/10.5/true/8B0E6B0A-6C3F-4C88-9A4E-0B8A0D0C7F11/newest")
  }

  @Test func `what a URL can't hold is percent-encoded`() throws {
    #expect(try url(client.path("a b?c#d%e&é")) == "https://api.test/v1/a%20b%3Fc%23d%25e%26%C3%A9")
  }

  @Test(arguments: ["..", ".", "a/../b", "../secret", "a/..", "..\\x", " .. "])
  func `a segment that climbs is refused, naming it`(_ path: String) async {
    for slashes in [PathSlashes.split, .keep] {
      let error = await failure { try client.path("files").path(path, slashes: slashes).request() }
      if slashes == .split || path != " .. " {
        #expect(error?.kind == .invalidURL)
        #expect(error?.message.contains("\"\(path)\"") == true)
      }
    }
  }

  @Test func `dots that are part of a name are no climbing`() throws {
    #expect(try url(client.path("a..b", "...", ".hidden")) == "https://api.test/v1/a..b/.../.hidden")
  }

  @Test func `an empty segment is refused, so that no other resource is meant`() async {
    let error = await failure { try await client.path("users").path("").delete().send() }
    #expect(error?.kind == .invalidURL && error?.message.contains("empty") == true)
  }

  @Test func `a number that isn't finite is refused before anything is sent`() async {
    let api = API()
    let error = await failure { try await api.client.path("n", Double.nan).get().send() }
    #expect(error?.kind == .encodingFailed && error?.message.contains("nan") == true)
    #expect(api.mock.requests.isEmpty)
  }

  @Test func `a path with typed values in it encodes them as one segment`() throws {
    let name = "a/b ü"
    let path: RequestPath = "/users/\(7)/files/\(name)?full=1"
    #expect(try url(client.path(path)) == "https://api.test/v1/users/7/files/a%2Fb%20%C3%BC?full=1")
  }

  @Test(arguments: ["..", "", "x/../y"]) func `a typed value that climbs is refused`(_ value: String) async {
    let error = await failure { try client.path("/users/\(value)/x" as RequestPath).request() }
    #expect(error?.kind == .invalidURL)
  }

  @Test func `a trailing slash can be asked for`() throws {
    #expect(try url(client.path("users").trailingSlash()) == "https://api.test/v1/users/")
    #expect(try url(client.path("users").trailingSlash().path(1)) == "https://api.test/v1/users/1")
  }

  @Test func `a base may have a path, a query and a slash`() throws {
    let bases = [
      ("https://h", "https://h/a"), ("https://h/", "https://h/a"), ("https://h/x/", "https://h/x/a"),
      ("https://h/x?k=v", "https://h/x/a?k=v"), ("https://h/x#f", "https://h/x/a"),
    ]
    for (base, expected) in bases { #expect(try url(API(base).client.path("a")) == expected) }
    #expect(try url(API("https://h/x?k=v").client.path("a").query("q", 1)) == "https://h/x/a?k=v&q=1")
    #expect(try url(API("https://h/x").client.call) == "https://h/x")
  }

  @Test(arguments: ["api.test", "ftp://h", "https://", "", "https://h:99999/"])
  func `a wrong base URL is named as such`(_ base: String) async {
    let error = await failure { try await API(base).client.path("a").get().send() }
    #expect(error.map { [.invalidURL, .unsupportedScheme].contains($0.kind) } == true)
    #expect(error?.message.contains("baseURL") == true)
  }

  @Test func `without a base URL a path can't be asked for`() async {
    let error = await failure { try Client(transport: API().mock).path("a").request() }
    #expect(error?.kind == .invalidURL && error?.message.contains("baseURL") == true)
  }

  @Test func `an absolute URL takes the place of base and path, and keeps the rest`() throws {
    let call = client.path("a").header("X", 1).query("q", 2).absolute(url: "https://other.test/z?y=1")
    let request = try call.request()
    #expect(request.url == "https://other.test/z?y=1&q=2")
    #expect(request.headers["X"] == "1")
    #expect(try call.path("b").request().url == "https://other.test/z/b?y=1&q=2")
  }

  @Test(arguments: ["other.test/z", "/z", ""]) func `a URL that isn't absolute is no place to begin anew`(
    _ url: String
  ) async {
    let error = await failure { try client.path("a").absolute(url: url).request() }
    #expect(error?.kind == .invalidURL && error?.message.contains("\"\(url)\"") == true)
  }

  @Test func `an environment is scheme, host, port and base path`() throws {
    let environment = Environment(scheme: "http", host: "h.test", port: 8080, basePath: "/api/v2/")
    #expect(environment.baseURL == "http://h.test:8080/api/v2")
    #expect(Environment(host: "::1").baseURL == "https://[::1]")
    #expect(Client(environment: environment).configuration.api.baseURL == environment.baseURL)
  }

  @Test func `a plain request with a relative URL goes behind the base`() async throws {
    let api = API()
    api.mock.on(.any, .status(200))
    _ = try await api.client.send(.get("/items?page=2#top"))
    _ = try await api.client.send(.get("https://other.test/x"))
    for try await _ in api.client.events(.get("items")) {}
    #expect(
      api.mock.requests.map(\.url) == [
        "https://api.test/v1/items?page=2#top", "https://other.test/x", "https://api.test/v1/items",
      ])
  }
}
