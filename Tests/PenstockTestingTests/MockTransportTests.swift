@testable import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct MockTransportTests {
  private func request(
    _ url: String = "https://h/", _ method: HTTPMethod = .get, body: RequestBody = .empty,
    watermark: Watermark = .standard
  ) -> TransportRequest {
    var options = TransportOptions()
    options.watermark = watermark
    return TransportRequest(method: method, url: url, body: body, options: options)
  }

  /// Status and body, or what went wrong.
  private func play(_ transport: some Transport, _ request: TransportRequest) async -> String {
    do throws(HTTPError) {
      let exchange = try transport.open(request)
      var text = ""
      while true {
        switch try await exchange.next() {
        case .informational(let head): text += "\(head.status) "
        case .uploaded: break
        case .head(let head, _):
          let body = ResponseBody(source: exchange.bodySource())
          let bytes = try await body.collect(upTo: .mebibytes(1))
          return text + "\(head.status) \(String(decoding: bytes, as: UTF8.self))"
            + (exchange.trailers.map { " \($0)" } ?? "")
        }
      }
    } catch {
      return error.kind.rawValue + " " + error.phase.rawValue
    }
  }

  @Test func `routes are tried in order, by method, URL and predicate`() async {
    let mock = MockTransport()
    mock.on(.call(.post, "/a"), .text("post"))
    mock.on(.url("/a/*"), .text("star"))
    mock.on(.url("/b/**"), .text("rest"))
    mock.on(.url("https://x/y?z=1"), .text("exact"))
    mock.on(.url("/q?a=1"), .text("query"))
    mock.on(MockMatch { $0.text == "magic" }, .text("predicate"))
    #expect(await play(mock, request("https://h/a", .post)) == "200 post")
    #expect(await play(mock, request("https://h/a/1?x")) == "200 star")
    #expect(await play(mock, request("https://h/b/1/2")) == "200 rest")
    #expect(await play(mock, request("https://x/y?z=1")) == "200 exact")
    #expect(await play(mock, request("https://h/q?a=1")) == "200 query")
    #expect(await play(mock, request("https://h/z", .put, body: .string("magic"))) == "200 predicate")
    #expect(await play(mock, request("https://h/a")) == "transport queue")
    #expect(mock.requests.count == 7 && mock.unusedRoutes.isEmpty)
  }

  @Test func `answers come one after another, then the route fits no more`() async {
    let mock = MockTransport()
    mock.on(.any, [.status(503), .text("ok")])
    #expect(mock.unusedRoutes == ["any request"])
    #expect(await play(mock, request()) == "503 ")
    #expect(await play(mock, request()) == "200 ok")
    #expect(await play(mock, request()) == "transport queue")
    let repeating = MockTransport()
    repeating.on(.any, [.status(503), .text("ok")], repeatingLast: true)
    for expected in ["503 ", "200 ok", "200 ok"] { #expect(await play(repeating, request()) == expected) }
  }

  @Test func `a closure may answer`() async {
    let mock = MockTransport { .text($0.method.rawValue + " " + $0.path) }
    #expect(await play(mock, request("https://h/p?q")) == "200 GET /p")
  }

  @Test func `everything that an exchange has can be answered`() async {
    let mock = MockTransport()
    mock.on(
      .any,
      .steps([
        .informational(ResponseHead(status: 103)), .head(207), .bytes([97]), .bytes([98]),
        .trailers(["T": "t"]),
      ]))
    #expect(await play(mock, request()) == "103 207 ab T: t")
  }

  @Test func `an answer can fail in any phase`() async {
    let cases: [(MockAnswer, String)] = [
      (.failure(.connectFailed), "connect head"),
      (.steps([.head(200), .fail(.truncated)]), "truncated body"),
      (.steps([]), "empty_reply head"),
      (.steps([.failure(HTTPError(.tlsHandshake, phase: .connect, message: "m"))]), "tls connect"),
      (.file("/nonexistent"), "read file"),
    ]
    for (answer, expected) in cases {
      let mock = MockTransport()
      mock.on(.any, answer)
      #expect(await play(mock, request()) == expected)
    }
  }

  @Test func `HEAD has no body`() async {
    let mock = MockTransport()
    mock.on(.any, .text("long"))
    #expect(await play(mock, request("https://h/", .head)) == "200 ")
  }

  @Test func `a gate holds an answer until a test opens it`() async {
    let gate = MockGate()
    let mock = MockTransport()
    mock.on(.any, MockAnswer.text("late").after(gate))
    let task = Task { await play(mock, request()) }
    await gate.arrived()
    #expect(mock.requests.count == 1)
    gate.open()
    #expect(await task.value == "200 late")
  }

  @Test func `a body is given at its reader's pace`() async throws {
    let mock = MockTransport()
    let gate = MockGate()
    let block = [UInt8](repeating: 1, count: 1000)
    mock.on(
      .any, .steps([.head(200), .bytes(block), .bytes(block), .bytes(block), .wait(gate), .bytes(block)]))
    let exchange = try mock.open(request(watermark: Watermark(low: 500, high: 1500)))
    guard case .head = try await exchange.next() else {
      Issue.record("no head")
      return
    }
    let body = ResponseBody(source: exchange.bodySource())
    var iterator = body.makeAsyncIterator()
    var count = 0
    while count < 3000 {
      let chunk = try await iterator.next()
      count += chunk?.count ?? 3000
    }
    await gate.arrived()
    gate.open()
    let last = try await iterator.next()
    let end = try await iterator.next()
    #expect(count == 3000 && last?.count == 1000 && end == nil)
  }

  @Test func `dropping the exchange ends the player`() async throws {
    let (exchange, feed) = Exchange.fed(url: "https://h/", watermark: Watermark(low: 1, high: 2))
    let (left, tell) = AsyncStream<Void>.makeStream()
    feed.onLeave { tell.finish() }
    feed.head(ResponseHead(status: 200))
    guard case .head = try await exchange.next() else { return }
    do { _ = ResponseBody(source: exchange.bodySource()) }
    for await _ in left {}
    #expect(feed.readerHasLeft)
    await feed.write([1, 2, 3])
    feed.finish()
  }

  @Test func `a feed that is let go of fails the exchange`() async {
    let exchange: Exchange
    do {
      let (made, feed) = Exchange.fed(url: "https://h/")
      exchange = made
      _ = feed
    }
    do throws(HTTPError) {
      _ = try await exchange.next()
      Issue.record("no error")
    } catch {
      #expect(error.kind == .transport)
    }
  }
}
