@testable import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct PagesTests {
  private struct Page: Decodable, Sendable {
    let items: [Int]
    var next: String?
  }

  private func numbers<Page, Item>(_ pages: Pages<Page, Item>) async throws -> [Item] {
    var all: [Item] = []
    for try await item in pages { all.append(item) }
    return all
  }

  @Test func `pages by Link header, to the end`() async throws {
    let api = API("https://h.test/api")
    api.mock.on(
      .url("https://h.test/api/n?q=1"),
      .json("[1,2]", headers: ["Link": #"</api/n?page=2>; rel="next last""#]))
    api.mock.on(
      .url("https://h.test/api/n?page=2"),
      .json("[]", headers: ["Link": #"<n?page=1>; rel=prev, <n?page=3>; rel=Next; title="a, b; c""#]))
    api.mock.on(.url("https://h.test/api/n?page=3"), .json("[3]", headers: ["Link": #"<x>; rel=prev"#]))
    let call = api.client.path("n").query("q", 1).header("Authorization", "secret")
    #expect(try await numbers(api.client.pages(call, of: Int.self, next: .link())) == [1, 2, 3])
    #expect(api.mock.requests.allSatisfy { $0.headers["Authorization"] == "secret" })
  }

  @Test func `a next page on another origin gets no secrets`() async throws {
    let api = API("https://h.test") { $0.headers["Cookie"] = "c" }
    api.mock.on(.url("https://h.test/n"), .json("[1]", headers: ["Link": "<https://other.test/n>; rel=next"]))
    api.mock.on(.url("https://other.test/n"), .json("[2]"))
    let call = api.client.path("n").header("Authorization", "s").header("X-Key", "k").header("X-Plain", "p")
      .modify { $0.secretHeaders = ["X-Key"] }
    #expect(try await numbers(api.client.pages(call, of: Int.self, next: .link())) == [1, 2])
    let second = api.mock.requests[1].headers
    #expect(second["Authorization"] == nil && second["X-Key"] == nil && second["Cookie"] == nil)
    #expect(second["X-Plain"] == "p")
  }

  @Test func `a next page by http after one by https is refused`() async {
    let api = API("https://h.test")
    api.mock.on(.any, .json("[1]", headers: ["Link": "<http://h.test/2>; rel=next"]))
    let error = await failure {
      try await numbers(api.client.pages(api.client.path("n"), of: Int.self, next: .link()))
    }
    #expect(error?.kind == .redirectRefused)
  }

  @Test func `what finalizes a call is done for each page anew`() async throws {
    let api = API("https://h.test")
    api.mock.on(.url("/n?p=2"), .json("[2]", headers: ["Link": "</n?p=3>; rel=next"]))
    api.mock.on(.url("/n?p=3"), .json("[3]"))
    api.mock.on(.any, .json("[1]", headers: ["Link": "</n?p=2>; rel=next"]))
    let call = api.client.path("n").finalize { $0.headers.append("X-Signed", String($0.url.suffix(3))) }
    #expect(try await numbers(api.client.pages(call, of: Int.self, next: .link())) == [1, 2, 3])
    #expect(api.mock.requests.map { $0.headers[all: "X-Signed"] } == [["t/n"], ["p=2"], ["p=3"]])
  }

  @Test func `pages by cursor in the body`() async throws {
    let api = API("https://h.test")
    api.mock.on(.url("https://h.test/n?size=2"), .json(#"{"items":[1,2],"next":"a b"}"#))
    api.mock.on(.url("https://h.test/n?size=2&cursor=a%20b"), .json(#"{"items":[],"next":"c"}"#))
    api.mock.on(.url("https://h.test/n?size=2&cursor=c"), .json(#"{"items":[3],"next":""}"#))
    let call = api.client.path("n").query("size", 2)
    let pages = api.client.pages(call, as: Page.self, next: .cursor("cursor") { $0.next }) { $0.items }
    #expect(try await numbers(pages) == [1, 2, 3])
    #expect(try await numbers(pages.withoutPrefetch()) == [1, 2, 3])
  }

  @Test func `pages by a URL in the body`() async throws {
    let api = API("https://h.test")
    api.mock.on(.url("/n"), .json(#"{"items":[1],"next":"/n/2"}"#))
    api.mock.on(.url("/n/2"), .json(#"{"items":[2]}"#))
    let pages = api.client.pages(api.client.path("n"), as: Page.self, next: .url { $0.next }) { $0.items }
    #expect(try await numbers(pages) == [1, 2])
  }

  @Test func `pages by number, to the first empty or short one`() async throws {
    let api = API("https://h.test")
    api.mock.on(.any) { request in
      switch request.query {
      case nil: .json("[1,2]")
      case "page=2": .json("[3,4]")
      case "page=3": .json("[5]")
      default: .json("[]")
      }
    }
    let client = api.client
    #expect(
      try await numbers(client.pages(client.path("n"), of: Int.self, next: .number("page"))) == [
        1, 2, 3, 4, 5,
      ])
    #expect(api.mock.requests.count == 4)
    let sized = client.pages(client.path("n"), of: Int.self, next: .number("page", size: 2))
    #expect(try await numbers(sized) == [1, 2, 3, 4, 5])
    #expect(api.mock.requests.count == 7)
  }

  @Test func `pages by offset grow by what came`() async throws {
    let api = API("https://h.test")
    api.mock.on(.any) { request in
      switch request.query {
      case "limit=2": .json("[1,2]")
      case "limit=2&offset=2": .json("[3,4]")
      case "limit=2&offset=4": .json("[5]")
      default: .json("[]")
      }
    }
    let call = api.client.path("n").query("limit", 2)
    let pages = api.client.pages(call, of: Int.self, next: .offset("offset", limit: ("limit", 2)))
    #expect(try await numbers(pages) == [1, 2, 3, 4, 5])
    #expect(api.mock.requests.count == 3)
  }

  @Test func `pages by a rule of your own, whole, with their answers`() async throws {
    let api = API("https://h.test")
    api.mock.on(.any, .json("[1]", headers: ["X": "y"]))
    let steps = PageSteps<[Int]> { context in
      guard context.index < 2 else { return nil }
      var request = context.request
      try request.addQuery("n", context.index)
      return request
    }
    var count = 0
    for try await page in api.client.pages(api.client.path("n"), of: Int.self, next: steps).pages {
      #expect(page.header("x") == "y" && page.value == [1])
      count += 1
    }
    #expect(count == 3)
  }

  @Test func `one page is fetched ahead, and no more`() async throws {
    let gate = MockGate()
    let api = API("https://h.test")
    api.mock.on(.url("/n/1"), .json(#"{"items":[1],"next":"/n/2"}"#))
    api.mock.on(.url("/n/2"), MockAnswer.json(#"{"items":[2],"next":"/n/3"}"#).after(gate))
    api.mock.on(.url("/n/3"), .json(#"{"items":[3]}"#))
    let pages = api.client.pages(api.client.path("n", 1), as: Page.self, next: .url { $0.next }) { $0.items }
    var iterator = pages.makeAsyncIterator()
    #expect(api.mock.requests.isEmpty)
    let first = try await iterator.next()
    #expect(first == 1)
    await api.mock.received(2)
    gate.open()
    #expect(api.mock.requests.count == 2)
    let second = try await iterator.next()
    #expect(second == 2)
    await api.mock.received(3)
    let third = try await iterator.next()
    let end = try await iterator.next()
    #expect(third == 3 && end == nil && api.mock.requests.count == 3)
  }

  @Test func `without prefetch a page is asked for with its first item`() async throws {
    let api = API("https://h.test")
    api.mock.on(.url("/n/1"), .json(#"{"items":[1,1],"next":"/n/2"}"#))
    api.mock.on(.url("/n/2"), .json(#"{"items":[2]}"#))
    let pages = api.client.pages(api.client.path("n", 1), as: Page.self, next: .url { $0.next }) { $0.items }
    var iterator = pages.withoutPrefetch().makeAsyncIterator()
    _ = try await iterator.next()
    _ = try await iterator.next()
    #expect(api.mock.requests.count == 1)
    let next = try await iterator.next()
    #expect(next == 2 && api.mock.requests.count == 2)
  }

  @Test func `leaving the loop ends the page that is under way`() async throws {
    let gate = MockGate()
    let api = API("https://h.test")
    api.mock.on(.url("/n/1"), .json(#"{"items":[1],"next":"/n/2"}"#))
    api.mock.on(.url("/n/2"), MockAnswer.json("{}").after(gate))
    let observer = EndWatch()
    let call = api.client.path("n", 1).observed(by: observer)
    for try await _ in api.client.pages(call, as: Page.self, next: .url { $0.next }, items: { $0.items }) {
      await gate.arrived()
      break
    }
    #expect(await observer.next() == "completed")
    #expect(await observer.next() == "left")
  }

  @Test func `cancelling the task ends the page that is waited for`() async {
    let gate = MockGate()
    let api = API("https://h.test")
    api.mock.on(.any, MockAnswer.json("[]").after(gate))
    let task = Task { try await numbers(api.client.pages(api.client.path("n"), of: Int.self, next: .link())) }
    await gate.arrived()
    task.cancel()
    await #expect(throws: HTTPError.cancelled) { try await task.value }
  }

  @Test func `a failing page ends the sequence, behind the items before it`() async throws {
    let api = API("https://h.test")
    api.mock.on(.url("/n/1"), .json(#"{"items":[1],"next":"/n/2"}"#))
    api.mock.on(.url("/n/2"), .status(500))
    let pages = api.client.pages(api.client.path("n", 1), as: Page.self, next: .url { $0.next }) { $0.items }
    var iterator = pages.makeAsyncIterator()
    let first = try await iterator.next()
    #expect(first == 1)
    do {
      _ = try await iterator.next()
      Issue.record("no error")
    } catch {
      #expect(error.status == 500)
    }
    let end = try await iterator.next()
    #expect(end == nil)
  }

  @Test func `a page that follows itself is an error, not a loop`() async {
    let api = API("https://h.test")
    api.mock.on(.any, .json("[1]", headers: ["Link": "</n>; rel=next"]))
    let error = await failure {
      try await numbers(api.client.pages(api.client.path("n"), of: Int.self, next: .link()))
    }
    #expect(error?.kind == .malformedResponse)
  }

  @Test(arguments: [2, 3, 7]) func `pages in a circle are an error, however long it is`(_ length: Int) async {
    let api = API("https://h.test")
    api.mock.on(.any) { request in
      let number = request.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
      // Two pages lead into the circle.
      let next = number < 2 + length - 1 ? number + 1 : 2
      return .json("[1]", headers: ["Link": "</n/\(next)>; rel=next"])
    }
    let pages = api.client.pages(api.client.path("n", 0), of: Int.self, next: .link())
    let error = await failure { try await numbers(pages) }
    #expect(error?.kind == .malformedResponse && api.mock.requests.count < 40)
  }

  @Test func `pages of an endpoint`() async throws {
    struct List: Endpoint {
      typealias Value = [Int]
      let path: RequestPath = "/n"
    }
    let api = API("https://h.test")
    api.mock.on(.any, [.json("[1]", headers: ["Link": "</m>; rel=next"]), .json("[2]")])
    #expect(try await numbers(api.client.pages(List(), next: .link()) { $0 }) == [1, 2])
  }

  @Test(arguments: [
    ("<a>; rel=next", ["a next"]), (#"<a>;rel="next prev" , <b>; rel=last"#, ["a next prev", "b last"]),
    (#"< /a,b;c > ; title="x\"> <y>"; REL=Next"#, ["/a,b;c next"]), ("<a>; rel=one; rel=two", ["a one"]),
    ("<a>; anchor=\"#f\"; rel=next", []), ("<a", []), ("", []), ("a; rel=next", []), ("<a>", ["a "]),
    ("<a>;;rel=next;", ["a next"]), ("<>; rel=next", [" next"]),
  ]) func `Link fields are read as RFC 8288 says`(_ text: String, _ expected: [String]) {
    #expect(LinkHeader.links(text).map { "\($0.target) \($0.relations.joined(separator: " "))" } == expected)
  }

  @Test func `a cut Link field is read without harm, wherever it is cut`() {
    let text = #"<https://h/a?b=c,d>; rel="next prev"; title="x\"y", <e>; rel=last"#
    for count in 0...text.utf8.count {
      let links = LinkHeader.links(String(decoding: text.utf8.prefix(count), as: UTF8.self))
      #expect(links.count <= 2)
    }
  }
}

/// Tells how observed calls ended, in order.
final class EndWatch: ExchangeObserver {
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func ended(_ exchange: ObservedExchange, _ metrics: ExchangeMetrics) {
    switch metrics.outcome {
    case .completed: continuation.yield("completed")
    case .failed(let error): continuation.yield(error.kind.rawValue)
    case .left: continuation.yield("left")
    }
  }

  func next() async -> String? {
    for await word in stream { return word }
    return nil
  }
}
