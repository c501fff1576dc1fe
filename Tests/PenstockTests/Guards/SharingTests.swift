import StreamCore
import Synchronization
import Testing

@testable import Penstock

@Suite(.timeLimit(.minutes(1))) struct SharingTests {
  private static func client(
    _ transport: FakeTransport, _ sharing: Sharing, _ clock: TestClock = TestClock()
  ) -> Client {
    Client.fake(transport, clock) { $0.middlewares = [sharing] }
  }

  @Test func `equal requests share one exchange`() async throws {
    let joined = Mutex(0)
    let transport = FakeTransport { _, _ in .hang }
    let sharing = Sharing(observer: { if $0 == .joined { joined.withLock { $0 += 1 } } })
    let client = Self.client(transport, sharing)
    let calls = (0..<20).map { _ in Task { try await client.text(.get("http://a/x")) } }
    #expect(await reached { joined.withLock { $0 } == 19 })
    transport.answer(0, with: .response(200, [], "shared"))
    for call in calls { #expect(try await call.value == "shared") }
    #expect(transport.count == 1)
    #expect(await reached { sharing.count == 0 })
    // What is over isn't joined.
    let later = Task { try await client.text(.get("http://a/x")) }
    await transport.opened(2)
    transport.answer(1, with: .response(200, [], "anew"))
    #expect(try await later.value == "anew")
  }

  @Test func `what differs isn't shared`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "") }
    let client = Self.client(transport, Sharing())
    var responses: [Response] = []
    responses.append(try await client.send(.get("http://a/x")))
    responses.append(try await client.send(.get("http://a/y")))
    responses.append(try await client.send(.get("http://a/x", headers: ["Accept": "text/plain"])))
    responses.append(try await client.send(.post("http://a/x")))
    responses.append(try await client.send(.post("http://a/x")))
    for edit in [
      { $0.isExemptFromAuthorization = true }, { $0.tls = TLSOptions() }, { $0.decodesContent = false },
      { $0.withoutDefaults = ["Accept"] }, { $0.cookies = .none },
    ] as [(inout Request) -> Void] {
      var request = Request.get("http://a/x")
      edit(&request)
      responses.append(try await client.send(request))
    }
    #expect(transport.count == 10)
    var request = Request.get("http://a/x")
    request.priority = 5
    responses.append(try await client.send(request))
    #expect(transport.count == 10)
  }

  @Test func `a request with stages or values of its own stays alone, unless the sharing is one of them`()
    async throws
  {
    struct Tenant: RequestKey { static let defaultValue = "" }
    let transport = FakeTransport { request, _ in .begin(200, request.headers["X-Tenant"] ?? "-") }
    let sharing = Sharing()
    let client = Self.client(transport, sharing)
    var responses: [Response] = []
    for tenant in ["a", "b"] {
      var request = Request.get("http://a/x")
      request.middlewares = [.processing { $0.headers["X-Tenant"] = tenant }]
      responses.append(try await client.send(request))
    }
    for tenant in ["a", "b"] {
      var request = Request.get("http://a/x")
      request[Tenant.self] = tenant
      responses.append(try await client.send(request))
    }
    #expect(transport.count == 4)
    let plain = Client.fake(transport, TestClock())
    for _ in 0..<2 {
      var request = Request.get("http://a/x")
      request.middlewares = [sharing, .processing { $0.headers["X-Tenant"] = "c" }]
      responses.append(try await plain.send(request))
    }
    #expect(transport.count == 5)
  }

  @Test func `who joins late gets the body from its beginning`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "ab") }
    let client = Self.client(transport, Sharing())
    let first = try await client.send(.get("http://a/"))
    var one = first.body.makeAsyncIterator()
    let beginning = try await one.next()
    #expect(beginning.map(Array.init) == Array("ab".utf8))
    let second = try await client.send(.get("http://a/"))
    transport.send(0, "cd")
    transport.finish(0)
    #expect(try await second.body.collect(upTo: .kibibytes(1)) == Array("abcd".utf8))
    let rest = try await one.next()
    #expect(rest.map(Array.init) == Array("cd".utf8))
    let end = try await one.next()
    #expect(end == nil && transport.count == 1)
  }

  @Test func `a body too large to keep isn't joined once its beginning is gone`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "abcdef") }
    let client = Self.client(transport, Sharing(bodyLimit: .bytes(4)))
    let first = try await client.send(.get("http://a/"))
    var one = first.body.makeAsyncIterator()
    _ = try await one.next()
    let second = try await client.send(.get("http://a/"))
    #expect(transport.count == 2)
    transport.finish(0)
    transport.finish(1)
    #expect(try await second.body.drain() == 6)
    let end = try await one.next()
    #expect(end == nil)
  }

  @Test func `one who leaves doesn't disturb the others; the last one ends it`() async throws {
    let transport = FakeTransport { _, _ in .hang }
    let joined = Mutex(0)
    let client = Self.client(transport, Sharing(observer: { _ in joined.withLock { $0 += 1 } }))
    let calls = (0..<3).map { _ in Task { try await client.text(.get("http://a/")) } }
    #expect(await reached { joined.withLock { $0 } == 2 && transport.count == 1 })
    calls[0].cancel()
    let error = await failure { try await calls[0].value }
    #expect(error?.kind == .cancelled && transport.left.isEmpty)
    calls[1].cancel()
    calls[2].cancel()
    for call in calls[1...] { _ = try? await call.value }
    #expect(await reached { transport.left == [0] })
    let later = Task { try await client.text(.get("http://a/")) }
    await transport.opened(2)
    transport.answer(1, with: .response(200, [], "ok"))
    #expect(try await later.value == "ok")
  }

  @Test func `a reader who leaves its body doesn't disturb the others`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "ab") }
    let client = Self.client(transport, Sharing())
    let first = try await client.send(.get("http://a/"))
    do {
      let second = try await client.send(.get("http://a/"))
      _ = second.status
    }
    transport.finish(0)
    #expect(try await first.body.drain() == 2)
    #expect(transport.count == 1)
  }

  @Test func `all get the one failure, in head and body`() async throws {
    let transport = FakeTransport { _, _ in .hang }
    let joined = Mutex(0)
    let client = Self.client(transport, Sharing(observer: { _ in joined.withLock { $0 += 1 } }))
    let calls = (0..<5).map { _ in Task { try await client.text(.get("http://a/")) } }
    #expect(await reached { joined.withLock { $0 } == 4 && transport.count == 1 })
    transport.answer(0, with: .failure(.emptyReply))
    for call in calls {
      let error = await failure { try await call.value }
      #expect(error?.kind == .emptyReply)
    }
    let others = (0..<2).map { _ in Task { try await client.text(.get("http://a/b")) } }
    await transport.opened(2)
    #expect(await reached { joined.withLock { $0 } == 5 })
    transport.answer(1, with: .begin(200, "ab"))
    transport.finish(1, failure: .truncated)
    for call in others {
      let error = await failure { try await call.value }
      #expect(error?.kind == .truncated)
    }
  }

  @Test func `a good answer is given again for a while`() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, number in .response(number == 2 ? 404 : 200, [], "\(number)") }
    let sharing = Sharing(replay: .seconds(10))
    let client = Self.client(transport, sharing, clock)
    #expect(try await client.text(.get("http://a/")) == "0")
    #expect(await reached { sharing.count == 1 })
    clock.advance(.seconds(9))
    #expect(try await client.text(.get("http://a/")) == "0")
    clock.advance(.seconds(1))
    #expect(try await client.text(.get("http://a/")) == "1")
    #expect(try await client.text(.get("http://a/404")) == "2")
    // An answer that isn't 2xx isn't given again.
    #expect(await reached { sharing.count == 1 })
    #expect(try await client.text(.get("http://a/404")) == "3")
  }

  @Test func `few answers are kept`() async throws {
    let transport = FakeTransport { _, _ in .response(200, [], "x") }
    let sharing = Sharing(replay: .seconds(10), keepLimit: 3)
    let client = Self.client(transport, sharing)
    for number in 0..<10 { _ = try await client.text(.get("http://a/\(number)")) }
    #expect(await reached { sharing.count <= 3 })
  }

  @Test func `one who joins has a time limit of its own`() async throws {
    let clock = TestClock(holds: true)
    let transport = FakeTransport { _, _ in .hang }
    let client = Self.client(transport, Sharing(), clock)
    let first = Task { try await client.text(.get("http://a/")) }
    await transport.opened(1)
    var request = Request.get("http://a/")
    request.timeouts = TimeLimits()
    request.timeouts?.total = .seconds(1)
    let limited = request
    let second = Task { try await client.text(limited) }
    #expect(await reached { clock.sleeperCount == 1 })
    clock.fire()
    let error = await failure { try await second.value }
    #expect(error?.kind == .totalTimeout)
    transport.answer(0, with: .response(200, [], "ok"))
    #expect(try await first.value == "ok")
  }

  @Test func `events of a shared call have head, body and end`() async throws {
    let transport = FakeTransport { _, _ in .response(200, [], "hello") }
    let client = Self.client(transport, Sharing())
    var names: [String] = []
    for try await event in client.events(.get("http://a/")) {
      switch event {
      case .head: names.append("head")
      case .body(let chunk): names.append("body \(chunk.count)")
      case .completed(let summary): names.append("completed \(summary.received)")
      default: break
      }
    }
    #expect(names == ["head", "body 5", "completed 5"])
  }
}
