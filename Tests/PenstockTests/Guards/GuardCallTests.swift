import StreamCore
import Synchronization
import Testing

@testable import Penstock

/// The events of a guard, in order.
private final class GuardLog: Sendable {
  private let log = Mutex<[GuardEvent]>([])
  var events: [GuardEvent] { log.withLock { $0 } }
  var observer: GuardObserver { { event in self.log.withLock { $0.append(event) } } }
}

@Suite(.timeLimit(.minutes(1))) struct GuardCallTests {
  private static let key = "http://a:80"

  // MARK: rate

  @Test func `requests over the rate wait, for each host by itself`() async throws {
    let clock = TestClock()
    let log = GuardLog()
    let transport = FakeTransport { _, _ in .response(200) }
    let client = Client.fake(transport, clock) {
      $0.middlewares = [RateLimit(perSecond: 4, burst: 2, observer: log.observer)]
    }
    for _ in 0..<3 { _ = try await client.send(.get("http://a/")) }
    _ = try await client.send(.get("http://b/"))
    #expect(clock.sleeps == [.milliseconds(250)])
    #expect(log.events == [.delayed(key: Self.key, by: .milliseconds(250))])
  }

  @Test func `retries count against the rate`() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, number in .response(number < 2 ? 503 : 200, [("Retry-After", "0")]) }
    let client = Client.fake(transport, clock) {
      $0.middlewares = [RateLimit(perSecond: 1)]
      $0.retry = RetryPolicy()
    }
    _ = try await client.send(.get("http://a/"))
    #expect(clock.sleeps.filter { $0 > .zero } == [.seconds(1), .seconds(1)])
  }

  @Test func `a wait that can't be had fails at once, and costs nothing`() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, _ in .response(200) }
    let limit = RateLimit(perSecond: 0.1)
    let client = Client.fake(transport, clock) { $0.middlewares = [limit] }
    _ = try await client.send(.get("http://a/"))
    var request = Request.get("http://a/")
    request.timeouts = TimeLimits()
    request.timeouts?.total = .seconds(5)
    let limited = request
    for _ in 0..<3 {
      let error = await failure { try await client.send(limited) }
      #expect(error?.kind == .admissionTimeout && error?.mayHaveBeenProcessed == false)
    }
    #expect(transport.count == 1)
    _ = try await client.send(.get("http://a/"))
    #expect(clock.sleeps == [.seconds(10)])
  }

  @Test func `a key of one's own, and requests without one`() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, _ in .response(200) }
    let limit = RateLimit(perSecond: 1, by: .field("Tenant"))
    let client = Client.fake(transport, clock) { $0.middlewares = [limit] }
    for tenant in ["a", "b", nil, nil, "a"] {
      var request = Request.get("http://\(tenant ?? "x")/")
      if let tenant { request.headers["Tenant"] = tenant }
      _ = try await client.send(request)
    }
    #expect(clock.sleeps == [.seconds(1)] && limit.keyCount == 2)
  }

  // MARK: concurrency

  @Test func `a place is held until the body has been read`() async throws {
    let transport = FakeTransport { _, _ in .begin(200, "a") }
    let log = GuardLog()
    let limit = ConcurrencyLimit(1, observer: log.observer)
    let client = Client.fake(transport, TestClock()) { $0.middlewares = [limit] }
    let first = try await client.send(.get("http://a/1"))
    let second = Task { try await client.send(.get("http://a/2")) }
    #expect(await reached { limit.counts == (1, 1) })
    // Another origin isn't held up.
    _ = try await client.send(.get("http://b/"))
    #expect(transport.count == 2)
    transport.finish(0)
    _ = try await first.body.drain()
    let response = try await second.value
    #expect(response.status == 200 && log.events == [.queued(key: Self.key)])
    response.cancel()
    let error = await failure { try await response.body.drain() }
    #expect(error?.kind == .cancelled)
    #expect(await reached { limit.counts == (0, 0) })
  }

  @Test func `dropped and discarded bodies give their places back`() async throws {
    let transport = FakeTransport { _, number in .response(number == 0 ? 503 : 200, [], "x") }
    let limit = ConcurrencyLimit(1)
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [limit]
      $0.retry = RetryPolicy()
    }
    for _ in 0..<3 { _ = try await client.send(.get("http://a/")).status }
    #expect(limit.counts == (0, 0))
  }

  @Test func `who waits can be cancelled, refused or too late`() async throws {
    let clock = TestClock(holds: true)
    let transport = FakeTransport { _, _ in .begin(200, "a") }
    let limit = ConcurrencyLimit(1, longestQueue: 1, longestWait: .seconds(5))
    let client = Client.fake(transport, clock) { $0.middlewares = [limit] }
    let first = try await client.send(.get("http://a/1"))
    let second = Task { try await client.send(.get("http://a/2")) }
    #expect(await reached { limit.counts == (1, 1) })
    let refused = await failure { try await client.send(.get("http://a/3")) }
    #expect(refused?.kind == .admissionTimeout)
    second.cancel()
    let cancelled = await failure { try await second.value }
    #expect(cancelled?.kind == .cancelled)
    #expect(limit.counts == (1, 0))
    let third = Task { try await client.send(.get("http://a/4")) }
    #expect(await reached { clock.sleeperCount == 1 })
    clock.fire()
    let late = await failure { try await third.value }
    #expect(late?.kind == .admissionTimeout)
    first.cancel()
    _ = try? await first.body.drain()
    #expect(await reached { limit.counts == (0, 0) })
  }

  @Test func `many at once never pass the limit`() async throws {
    let running = Mutex((now: 0, most: 0))
    let transport = FakeTransport { _, _ in .response(200, [], "x") }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        ConcurrencyLimit(3, by: .client),
        ResponseInterceptor(scope: .attempt) { response, _ in
          running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
          return response.inspectingBody(end: { _ in running.withLock { $0.now -= 1 } }) { _ in }
        },
      ]
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask { _ = try? await client.text(.get("http://h\(number)/")) }
      }
    }
    #expect(running.withLock { $0.now } == 0 && running.withLock { $0.most } <= 3 && transport.count == 200)
  }

  // MARK: circuit

  @Test func `a failing origin isn't asked until its time has come`() async throws {
    let clock = TestClock()
    let log = GuardLog()
    let isWell = Mutex(false)
    let transport = FakeTransport { request, _ in
      request.url.contains("//b") || isWell.withLock { $0 } ? .response(200) : .failure(.connectFailed)
    }
    var settings = CircuitBreaker.Settings()
    settings.minimumCalls = 2
    settings.probes = 1
    let breaker = CircuitBreaker(settings, observer: log.observer)
    let client = Client.fake(transport, clock) { $0.middlewares = [breaker] }
    for _ in 0..<2 { _ = try? await client.send(.get("http://a/")) }
    let error = await failure { try await client.send(.get("http://a/")) }
    #expect(error?.kind == .circuitOpen && error?.mayHaveBeenProcessed == false && transport.count == 2)
    #expect(breaker.state(of: Self.key) == .open)
    #expect(try await client.send(.get("http://b/")).status == 200)
    clock.advance(.seconds(5))
    isWell.withLock { $0 = true }
    #expect(try await client.send(.get("http://a/")).status == 200)
    #expect(
      log.events == [
        .circuit(key: Self.key, from: .closed, to: .open), .refused(key: Self.key),
        .circuit(key: Self.key, from: .open, to: .halfOpen),
        .circuit(key: Self.key, from: .halfOpen, to: .closed),
      ])
  }

  // MARK: hedging

  private static func hedging(_ log: GuardLog, delay: Duration = .milliseconds(50)) -> Hedging {
    var settings = Hedging.Settings()
    settings.initialDelay = delay
    settings.ratio = 1
    return Hedging(settings, observer: log.observer)
  }

  @Test func `a slow request gets a second one, and the faster answer counts`() async throws {
    let clock = TestClock(holds: true)
    let log = GuardLog()
    let transport = FakeTransport { _, number in number == 0 ? .hang : .response(200, [], "second") }
    let client = Client.fake(transport, clock) { $0.middlewares = [Self.hedging(log)] }
    let call = Task { try await client.text(.get("http://a/")) }
    #expect(await reached { clock.sleeperCount == 1 && transport.count == 1 })
    clock.fire()
    #expect(try await call.value == "second")
    #expect(await reached { transport.left == [0] })
    #expect(
      log.events == [.hedged(key: Self.key, after: .milliseconds(50)), .hedgeWon(key: Self.key)])
  }

  @Test func `a fast request gets none, nor does one that isn't safe`() async throws {
    let clock = TestClock(holds: true)
    let log = GuardLog()
    let transport = FakeTransport { request, _ in .response(200, [], request.method.rawValue) }
    let client = Client.fake(transport, clock) { $0.middlewares = [Self.hedging(log)] }
    #expect(try await client.text(.get("http://a/")) == "GET")
    #expect(try await client.text(.post("http://a/")) == "POST")
    #expect(transport.count == 2 && log.events.isEmpty && clock.sleeperCount == 0)
  }

  @Test func `the first one may still win, and a failure waits for the other`() async throws {
    for isFailing in [false, true] {
      let clock = TestClock(holds: true)
      let log = GuardLog()
      let transport = FakeTransport { _, _ in .hang }
      let client = Client.fake(transport, clock) { $0.middlewares = [Self.hedging(log)] }
      let call = Task { try await client.text(.get("http://a/")) }
      #expect(await reached { clock.sleeperCount == 1 })
      clock.fire()
      await transport.opened(2)
      if isFailing { transport.answer(1, with: .failure(.connectFailed)) }
      transport.answer(0, with: .response(200, [], "first"))
      #expect(try await call.value == "first")
      if !isFailing { #expect(await reached { transport.left == [1] }) }
    }
  }

  @Test func `when both fail the call does, and cancelling ends both`() async throws {
    let clock = TestClock(holds: true)
    let transport = FakeTransport { _, _ in .hang }
    let client = Client.fake(transport, clock) { $0.middlewares = [Self.hedging(GuardLog())] }
    let call = Task { try await client.text(.get("http://a/")) }
    #expect(await reached { clock.sleeperCount == 1 })
    clock.fire()
    await transport.opened(2)
    transport.answer(0, with: .failure(.emptyReply))
    transport.answer(1, with: .failure(.emptyReply))
    let error = await failure { try await call.value }
    #expect(error?.kind == .emptyReply)
    let other = Task { try await client.text(.get("http://a/")) }
    #expect(await reached { clock.sleeperCount == 1 })
    clock.fire()
    await transport.opened(4)
    other.cancel()
    let cancelled = await failure { try await other.value }
    #expect(cancelled?.kind == .cancelled)
    #expect(await reached { transport.left == [2, 3] })
  }

  @Test func `second attempts keep to their part of the first ones`() async throws {
    let clock = TestClock()
    let log = GuardLog()
    let transport = FakeTransport { _, _ in .response(200) }
    var settings = Hedging.Settings()
    settings.initialDelay = .zero
    settings.ratio = 0
    let hedging = Hedging(settings, observer: log.observer)
    let client = Client.fake(transport, clock) { $0.middlewares = [hedging] }
    for _ in 0..<30 { _ = try await client.send(.get("http://a/")) }
    #expect(log.events.count { if case .hedged = $0 { true } else { false } } <= 1)
  }

  // MARK: fallback, deadline

  @Test func `fallbacks are taken in order until one does well`() async throws {
    let log = GuardLog()
    let transport = FakeTransport { request, _ in
      request.url.contains("//c") ? .response(200, [], "c") : .failure(.connectFailed)
    }
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = [
        Fallback(
          [
            .request { $0.url = "http://b/" }, .response { $0.url == "http://z/" ? nil : nil },
            .request { $0.url = "http://c/" }, .request { $0.url = "http://d/" },
          ], observer: log.observer)
      ]
    }
    #expect(try await client.text(.get("http://a/")) == "c")
    #expect(transport.requests.map(\.url) == ["http://a/", "http://b/", "http://c/"])
    #expect(log.events == [.fellBack(0), .fellBack(2)])
  }

  @Test func `a made-up answer can be fallen back on, and the last outcome stands without one`() async throws
  {
    let transport = FakeTransport { _, _ in .response(502) }
    let client = Client.fake(transport, TestClock())
    var request = Request.get("http://a/")
    request.middlewares = [
      Fallback([
        .response { request in
          Response(head: ResponseHead(status: 200), body: ResponseBody(Array("stale".utf8)), url: request.url)
        }
      ])
    ]
    #expect(try await client.text(request) == "stale")
    request.middlewares = [Fallback([.request { $0.url = "http://b/" }])]
    let response = try await client.send(request)
    #expect(response.status == 502 && response.url == "http://b/")
  }

  @Test func `the server is told how much time is left`() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, number in .response(number == 0 ? 503 : 200, [("Retry-After", "2")]) }
    let client = Client.fake(transport, clock) {
      $0.middlewares = [DeadlineField("Left")]
      $0.retry = RetryPolicy()
      $0.timeouts.total = .seconds(10)
    }
    _ = try await client.send(.get("http://a/"))
    #expect(transport.requests.map { $0.headers["Left"] } == ["10000", "8000"])
  }
}
