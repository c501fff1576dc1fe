import StreamCore
import Synchronization
import Testing

@testable import Penstock

@Suite(.timeLimit(.minutes(1))) struct RetryCallTests {
  /// Fails so often, then answers.
  private static func failing(_ times: Int, _ answer: FakeTransport.Answer) -> FakeTransport {
    FakeTransport { _, number in number < times ? answer : .response(200, [], "ok") }
  }

  @Test func `nothing is retried unless asked for`() async throws {
    let transport = Self.failing(1, .response(503))
    let response = try await Client.fake(transport, TestClock()).send(.get("http://a/"))
    #expect(response.status == 503 && transport.count == 1)
  }

  @Test func `failures and statuses are retried until one does well`() async throws {
    for answer in [FakeTransport.Answer.response(503), .failure(.connectionLost), .failure(.connectFailed)] {
      let clock = TestClock()
      let transport = Self.failing(2, answer)
      let client = Client.fake(transport, clock) { $0.retry = RetryPolicy() }
      let response = try await client.send(.get("http://a/"))
      #expect(response.status == 200 && response.attempts.count == 2)
      #expect(try await response.body.collect(upTo: .kibibytes(1)) == Array("ok".utf8))
      #expect(clock.sleeps == [.milliseconds(250), .milliseconds(500)])
    }
  }

  @Test func `the last response is delivered as it is, and lists the attempts`() async throws {
    let transport = FakeTransport { _, number in .response(503, [], "try \(number)") }
    let client = Client.fake(transport, TestClock()) { $0.retry = RetryPolicy(limit: 2) }
    let response = try await client.send(.get("http://a/"))
    #expect(response.status == 503 && response.attempts.map(\.number) == [1, 2])
    #expect(try await response.body.collect(upTo: .kibibytes(1)) == Array("try 2".utf8))
  }

  @Test func `the last error lists the attempts`() async {
    let transport = FakeTransport { _, number in number == 0 ? .response(502) : .failure(.emptyReply) }
    let client = Client.fake(transport, TestClock()) { $0.retry = RetryPolicy(limit: 2) }
    let error = await failure { try await client.send(.get("http://a/")) }
    #expect(error?.kind == .emptyReply && error?.mayHaveBeenProcessed == true)
    #expect(error?.attempts.map(\.status) == [502, nil])
    #expect(error?.attempts.map(\.kind) == [nil, .emptyReply])
    #expect(error?.description.contains("attempt 3") == true)
    #expect(error?.description.contains("Before: status 502 after") == true)
  }

  @Test func `each retry is an event`() async throws {
    let transport = Self.failing(2, .response(503, [("Retry-After", "3")]))
    let client = Client.fake(transport, TestClock()) { $0.retry = RetryPolicy() }
    var retries: [RetryAttempt] = []
    var heads = 0
    for try await event in client.events(.get("http://a/")) {
      if case .retry(let retry) = event { retries.append(retry) }
      if case .head = event { heads += 1 }
    }
    #expect(retries.map(\.number) == [2, 3] && heads == 1)
    #expect(retries.map(\.delay) == [.seconds(3), .seconds(3)])
    #expect(retries.map(\.reason) == ["status 503", "status 503"])
  }

  @Test func `a request's own policy beats the client's`() async throws {
    let transport = FakeTransport { _, _ in .response(503) }
    let client = Client.fake(transport, TestClock()) { $0.retry = RetryPolicy(limit: 5) }
    var request = Request.get("http://a/")
    request.retry = RetryPolicy.none
    _ = try await client.send(request)
    #expect(transport.count == 1)
    request.retry = RetryPolicy(limit: 1)
    _ = try await client.send(request)
    #expect(transport.count == 3)
  }

  @Test func `a POST isn't retried, but for opting in or when it wasn't sent`() async throws {
    let lost = Self.failing(1, .failure(.connectionLost))
    let error = await failure {
      try await Client.fake(lost, TestClock()) { $0.retry = RetryPolicy() }.send(.post("http://a/"))
    }
    #expect(error?.kind == .connectionLost && error?.mayHaveBeenProcessed == true && lost.count == 1)
    let unsent = Self.failing(1, .failure(.connectFailed, sent: false))
    let client = Client.fake(unsent, TestClock()) { $0.retry = RetryPolicy() }
    #expect(try await client.send(.post("http://a/")).status == 200)
    #expect(unsent.requests.allSatisfy { !$0.headers.contains("Idempotency-Key") })
  }

  @Test func `an opted-in POST carries one key through all attempts`() async throws {
    let transport = Self.failing(2, .failure(.connectionLost))
    var policy = RetryPolicy()
    policy.methods = .all
    let client = Client.fake(transport, TestClock()) { $0.retry = policy }
    _ = try await client.send(.post("http://a/", body: .string("x")))
    let keys = transport.requests.map { $0.headers[all: "Idempotency-Key"] }
    #expect(keys.count == 3 && Set(keys).count == 1 && keys[0].count == 1)
    _ = try await client.send(.post("http://a/", headers: ["Idempotency-Key": "mine"]))
    #expect(transport.requests.last?.headers[all: "Idempotency-Key"] == ["mine"])
    _ = try await client.send(.get("http://a/"))
    #expect(transport.requests.last?.headers.contains("Idempotency-Key") == false)
  }

  @Test func `a body that can be read once isn't sent again`() async throws {
    let transport = Self.failing(1, .response(503))
    let client = Client.fake(transport, TestClock()) { $0.retry = RetryPolicy() }
    let parts = AsyncStream<[UInt8]> { $0.finish() }
    #expect(try await client.send(.put("http://a/", body: .stream(parts))).status == 503)
  }

  @Test func `nothing is retried after the head`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "abc") }
    let client = Client.fake(transport, TestClock()) { $0.retry = RetryPolicy() }
    let response = try await client.send(.get("http://a/"))
    transport.finish(0, failure: .receiveFailed)
    let error = await failure { try await response.body.drain() }
    #expect(error?.kind == .receiveFailed && transport.count == 1)
  }

  @Test func `a collected body that is lost on its way is loaded anew`() async throws {
    let transport = FakeTransport { _, number in number == 0 ? .begin(200, "ab") : .response(200, [], "abcd")
    }
    let client = Client.fake(transport, TestClock()) {
      $0.retry = RetryPolicy()
      $0.middlewares = [.collectingBody(upTo: .bytes(4))]
    }
    let call = Task { try await client.text(.get("http://a/")) }
    await transport.opened(1)
    transport.finish(0, failure: .truncated)
    #expect(try await call.value == "abcd" && transport.count == 2)
    // A body over the limit isn't.
    let strict = Client.fake(transport, TestClock()) {
      $0.retry = RetryPolicy()
      $0.middlewares = [.collectingBody(upTo: .bytes(3))]
    }
    let error = await failure { try await strict.text(.get("http://a/")) }
    #expect(error?.kind == .bodyTooLarge && transport.count == 3)
  }

  @Test func `a collected POST body that is lost isn't loaded anew`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "ab") }
    let client = Client.fake(transport, TestClock()) {
      $0.retry = RetryPolicy()
      $0.middlewares = [.collectingBody(upTo: .bytes(4))]
    }
    let call = Task { try await client.text(.post("http://a/")) }
    await transport.opened(1)
    transport.finish(0, failure: .truncated)
    let error = await failure { try await call.value }
    #expect(error?.kind == .truncated && error?.mayHaveBeenProcessed == true && transport.count == 1)
  }

  @Test func `a redirect neither starts the count anew nor counts`() async throws {
    let transport = FakeTransport { request, number in
      request.url.hasSuffix("/a") && number == 1
        ? .response(302, [("Location", "/b")]) : .response(number == 0 || number == 2 ? 503 : 200)
    }
    let client = Client.fake(transport, TestClock()) { $0.retry = RetryPolicy(limit: 2) }
    let response = try await client.send(.get("http://a/a"))
    #expect(response.status == 200 && response.attempts.count == 2 && response.history.count == 1)
    #expect(transport.requests.map(\.url) == ["http://a/a", "http://a/a", "http://a/b", "http://a/b"])
  }

  @Test func `a total limit spans attempts and waits`() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, _ in .response(503, [("Retry-After", "4")]) }
    let client = Client.fake(transport, clock) {
      $0.retry = RetryPolicy(limit: 9)
      $0.timeouts.total = .seconds(10)
    }
    #expect(try await client.send(.get("http://a/")).status == 503)
    // At 0, 4 and 8 s; 12 s would be too late.
    #expect(transport.requests.map { $0.options.timeouts.total } == [.seconds(10), .seconds(6), .seconds(2)])
  }

  @Test func `Retry-After holds back other calls to that host`() async throws {
    let clock = TestClock(holds: true)
    let transport = FakeTransport { request, number in
      number == 0 ? .response(429, [("Retry-After", "30")]) : .response(200, [], request.url)
    }
    let client = Client.fake(transport, clock) { $0.retry = RetryPolicy() }
    async let first = client.text(.get("http://a/1"))
    #expect(await reached { clock.sleeperCount == 1 })
    async let second = client.text(.get("http://a/2"))
    #expect(await reached { clock.sleeperCount == 2 })
    // Another host goes at once.
    #expect(try await client.text(.get("http://b/3")) == "http://b/3")
    #expect(transport.count == 2 && clock.sleeps == [.seconds(30), .seconds(30)])
    clock.advance(.seconds(30))
    clock.fire()
    #expect(try await first == "http://a/1")
    #expect(try await second == "http://a/2")
  }

  @Test func `a call that hasn't the time for a held host fails at once`() async throws {
    let clock = TestClock(holds: true)
    let transport = FakeTransport { _, _ in .response(503, [("Retry-After", "30")]) }
    let client = Client.fake(transport, clock) { $0.retry = RetryPolicy() }
    let first = Task { try await client.send(.get("http://a/1")) }
    #expect(await reached { clock.sleeperCount == 1 })
    var request = Request.get("http://a/2")
    request.timeouts = TimeLimits()
    request.timeouts?.total = .seconds(5)
    let limited = request
    let error = await failure { try await client.send(limited) }
    #expect(error?.kind == .admissionTimeout && transport.count == 1)
    first.cancel()
    let cancelled = await failure { try await first.value }
    #expect(cancelled?.kind == .cancelled)
  }

  @Test func `all calls together keep to the budget`() async throws {
    let transport = FakeTransport { _, _ in .response(503) }
    let client = Client.fake(transport, TestClock()) {
      var budget = RetryBudget()
      budget.ratio = 0.25
      budget.perSecond = 0
      budget.burst = 1
      $0.retryBudget = budget
      var policy = RetryPolicy()
      policy.backoff.base = .zero
      $0.retry = policy
    }
    for number in 0..<10 {
      #expect(try await client.send(.get("http://a/\(number)")).status == 503)
    }
    // The first, fifth and ninth call had a retry to spend.
    #expect(transport.count == 13)
  }

  @Test func `cancelling ends the wait`() async throws {
    let clock = TestClock(holds: true)
    let transport = FakeTransport { _, _ in .response(503) }
    let client = Client.fake(transport, clock) { $0.retry = RetryPolicy() }
    let call = Task { try await client.send(.get("http://a/")) }
    #expect(await reached { clock.sleeperCount == 1 })
    call.cancel()
    let error = await failure { try await call.value }
    #expect(error?.kind == .cancelled && transport.count == 1)
  }

  @Test func `a task's deadline limits all calls inside`() async throws {
    let transport = FakeTransport { _, _ in .response(200) }
    let client = Client.fake(transport, TestClock())
    try await Deadline.with(.seconds(3600)) {
      try await Deadline.with(.seconds(7200)) { _ = try await client.send(.get("http://a/")) }
    }
    let total = try #require(transport.requests.first?.options.timeouts.total)
    #expect(total < .seconds(3700) && total > .seconds(3000))
    #expect(Deadline.current == nil)
    // The played transport knows no limits; what it is given is what was left.
    try await Deadline.with(.zero) { _ = try await client.send(.get("http://a/")) }
    #expect(try #require(transport.requests.last?.options.timeouts.total) < .seconds(60))
  }
}
