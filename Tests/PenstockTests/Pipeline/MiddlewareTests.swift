import StreamCore
import Synchronization
import Testing

@testable import Penstock

/// What middlewares did, in order.
private final class Diary: Sendable {
  private let lines = Mutex<[String]>([])
  var text: [String] { lines.withLock { $0 } }
  func write(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Writes when it is entered and left.
private struct Scribe: Middleware {
  let name: String
  let diary: Diary
  var scope = MiddlewareScope.call

  func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    diary.write("\(name) in \(context.attempt) \(context.hop)")
    do throws(HTTPError) {
      let response = try await next(request)
      diary.write("\(name) out \(response.status)")
      return response
    } catch {
      diary.write("\(name) failed \(error.kind.rawValue)")
      throw error
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct MiddlewareTests {
  @Test func `they run in order, the request's inside the client's, attempts inside calls`() async throws {
    let diary = Diary()
    let transport = FakeTransport { request, number in
      number == 0
        ? .response(503) : request.url.hasSuffix("/b") ? .response(200) : .response(302, [("Location", "/b")])
    }
    let client = Client.fake(transport, TestClock()) {
      $0.retry = RetryPolicy()
      $0.middlewares = [
        Scribe(name: "a", diary: diary), Scribe(name: "x", diary: diary, scope: .attempt),
        Scribe(name: "b", diary: diary),
      ]
    }
    var request = Request.get("http://a/a")
    request.middlewares = [Scribe(name: "c", diary: diary)]
    #expect(try await client.send(request).status == 200)
    #expect(
      diary.text == [
        "a in 1 0", "b in 1 0", "c in 1 0", "x in 1 0", "x out 503", "x in 2 0", "x out 302", "x in 3 1",
        "x out 200", "c out 200", "b out 200", "a out 200",
      ])
  }

  @Test func `events come through them, each once and in order`() async throws {
    for scope in [MiddlewareScope.call, .attempt] {
      let diary = Diary()
      let transport = FakeTransport { request, number in
        number == 0
          ? .response(503)
          : request.url.hasSuffix("/b") ? .response(200, [], "hello") : .response(302, [("Location", "/b")])
      }
      let client = Client.fake(transport, TestClock()) {
        $0.retry = RetryPolicy()
        $0.middlewares = [Scribe(name: "a", diary: diary, scope: scope)]
      }
      var names: [String] = []
      for try await event in client.events(.get("http://a/a")) {
        switch event {
        case .retry(let retry): names.append("retry \(retry.number)")
        case .redirect(let hop): names.append("redirect \(hop.status)")
        case .head(let head): names.append("head \(head.status) \(head.url)")
        case .body(let chunk): names.append("body \(chunk.count)")
        case .progress(let progress):
          // How many there are depends on the time that passes.
          let name = "progress \(progress.received)"
          if names.last != name { names.append(name) }
        case .completed(let summary): names.append("completed \(summary.received)")
        case .informational, .uploadProgress, .trailers: names.append("other")
        }
      }
      #expect(
        names == [
          "retry 2", "redirect 302", "head 200 http://a/b", "body 5", "progress 5", "completed 5",
        ])
      #expect(diary.text.count == (scope == .call ? 2 : 6))
    }
  }

  @Test func `events are cold with them too, and leaving ends the exchange`() async throws {
    let diary = Diary()
    let transport = FakeTransport { _, _ in .hang }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [Scribe(name: "a", diary: diary)]
    }
    let events = client.events(.get("http://a/"))
    #expect(transport.count == 0)
    let reader = Task {
      var iterator = events.makeAsyncIterator()
      return try await iterator.next() == nil
    }
    await transport.opened(1)
    reader.cancel()
    let error = await failure { try await reader.value }
    #expect(error?.kind == .cancelled)
    #expect(await reached { transport.left == [0] })
    #expect(await reached { diary.text.last == "a failed cancelled" })
  }

  @Test func `one can change the request, the head, answer itself, or fail`() async throws {
    let transport = FakeTransport { request, _ in
      .response(200, [("X-Got", request.headers["X-Sent"] ?? "")], "wire")
    }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        .processing { $0.headers["X-Sent"] = "1" },
        .intercepting { response, _ in
          var head = response.head
          head.headers["X-Added"] = "2"
          return response.replacingHead(head)
        },
      ]
    }
    let response = try await client.send(.get("http://a/"))
    #expect(response.headers["X-Got"] == "1" && response.headers["X-Added"] == "2")
    #expect(try await response.body.collect(upTo: .kibibytes(1)) == Array("wire".utf8))

    struct Cached: Middleware {
      func intercept(
        _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
      ) async throws(HTTPError) -> Response {
        Response(head: ResponseHead(status: 203), body: ResponseBody(Array("mine".utf8)), url: request.url)
      }
    }
    var request = Request.get("http://a/")
    request.middlewares = [Cached()]
    #expect(try await client.text(request) == "mine")
    let summary = try await client.events(request).reduce(into: [TransferSummary]()) { summaries, event in
      if case .completed(let summary) = event { summaries.append(summary) }
    }
    #expect(summary.map(\.decoded) == [4])
    #expect(transport.count == 1)

    request.middlewares = [
      RequestProcessor { _ async throws(HTTPError) in
        throw HTTPError(.invalidHeader, phase: .queue, message: "no")
      }
    ]
    let refused = request
    let error = await failure { try await client.send(refused) }
    #expect(error?.kind == .invalidHeader && transport.count == 1)
  }

  @Test func `one can send several times, and recover`() async throws {
    struct Twice: Middleware {
      func intercept(
        _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
      ) async throws(HTTPError) -> Response {
        let first = try await next(request)
        _ = try await first.body.drain()
        return try await next(request)
      }
    }
    let transport = FakeTransport { _, number in
      number < 2 ? .response(200, [], "\(number)") : .failure(.emptyReply)
    }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        FailureInterceptor { error, request in
          Response(
            head: ResponseHead(status: 299), body: ResponseBody(Array(error.kind.rawValue.utf8)),
            url: request.url)
        },
        Twice(),
      ]
    }
    #expect(try await client.text(.get("http://a/")) == "1")
    #expect(try await client.text(.get("http://a/")) == "empty_reply")
  }

  @Test func `a body can be changed and watched while it comes`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "abc") }
    let seen = Diary()
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        .intercepting { response, _ in
          response.mappingBody { body in body.map { BodyChunk($0.map { $0 &- 32 }) } }
            .inspectingBody(end: { seen.write("end \($0?.kind.rawValue ?? "well")") }) {
              seen.write(String(decoding: $0, as: UTF8.self))
            }
        }
      ]
    }
    let response = try await client.send(.get("http://a/"))
    var iterator = response.body.makeAsyncIterator()
    // The first chunk is out before the second one is there: nothing is read ahead.
    let first = try await iterator.next()
    #expect(first.map(Array.init) == Array("ABC".utf8))
    transport.send(0, "de")
    let second = try await iterator.next()
    #expect(second.map(Array.init) == Array("DE".utf8))
    transport.finish(0)
    let third = try await iterator.next()
    #expect(third == nil && seen.text == ["ABC", "DE", "end well"])
  }

  @Test func `one can count, hash, copy and change a body without reading ahead`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "abc") }
    let copy = Diary()
    let hash = BodyHash(.sha256)
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        .intercepting { response, _ in
          response.mappingBody(keepsLength: true) { body in
            body.hashed(by: hash).tee { copy.write(String(decoding: $0, as: UTF8.self)) }
          }
          .mappingBody { $0.rechunked(bytes: 2) }
        }
      ]
    }
    let response = try await client.send(.get("http://a/"))
    var iterator = response.body.makeAsyncIterator()
    let first = try await iterator.next()
    // The second chunk isn't there yet, and nobody has asked for it.
    #expect(first.map(Array.init) == Array("ab".utf8) && copy.text == ["abc"] && hash.digest == nil)
    transport.send(0, "de")
    transport.finish(0)
    let second = try await iterator.next()
    #expect(second.map(Array.init) == Array("cd".utf8) && copy.text == ["abc", "de"])
    let third = try await iterator.next()
    #expect(third.map(Array.init) == Array("e".utf8))
    let end = try await iterator.next()
    #expect(try end == nil && hash.digest == Digest.of(Array("abcde".utf8), .sha256))
  }

  @Test func `progress counts wire bytes under a changed body`() async throws {
    let transport = FakeTransport { _, _ in .response(200, [], "abcd") }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        .intercepting { response, _ in response.mappingBody { $0.map { BodyChunk(Array($0) + Array($0)) } } }
      ]
    }
    var summary: TransferSummary?
    for try await event in client.events(.get("http://a/")) {
      if case .completed(let last) = event { summary = last }
    }
    #expect(summary?.received == 4 && summary?.decoded == 8)
  }

  @Test func `leaving a changed body ends the exchange, and errors of the change are typed`() async throws {
    struct Odd: Error {}
    let transport = FakeTransport { _, _ in .begin(200, "abc") }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        .intercepting { response, request in
          response.mappingBody { body in
            body.map { chunk in
              if request.url.hasSuffix("/odd") { throw Odd() }
              return chunk
            }
          }
        }
      ]
    }
    do {
      let response = try await client.send(.get("http://a/"))
      _ = response.status
    }
    #expect(await reached { transport.left == [0] })
    let response = try await client.send(.get("http://a/odd"))
    let error = await failure { try await response.body.drain() }
    #expect(error?.kind == .readFailed)
    #expect(await reached { transport.left == [0, 1] })
  }

  @Test func `what fails in the body passes through a changed one as it is`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "abc") }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [.intercepting { response, _ in response.mappingBody { $0.map { $0 } } }]
    }
    let response = try await client.send(.get("http://a/"))
    transport.finish(0, failure: .truncated)
    let error = await failure { try await response.body.drain() }
    #expect(error?.kind == .truncated)
  }
}
