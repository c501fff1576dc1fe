import StreamCore
import Synchronization
import Testing

@testable import Penstock

/// Guards and credentials that have nothing to wait for are gone through without wrapping the attempt: what they hold
/// must come back all the same, however the attempt ends.
@Suite(.timeLimit(.minutes(1))) struct PromptGuardTests {
  /// Passes everything on, so that what is inside of it is wrapped.
  private struct Passing: Middleware {
    let scope = MiddlewareScope.attempt
    func intercept(
      _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
    ) async throws(HTTPError) -> Response { try await next(request) }
  }

  private static let key = "http://a:80"

  /// The guards alone, before and behind a middleware that wraps.
  private static let wrappings: [@Sendable ([any Middleware]) -> [any Middleware]] = [
    { $0 }, { [Passing()] + $0 }, { $0 + [Passing()] }, { [$0[0], Passing()] + $0.dropFirst() },
  ]

  private func quick() -> RetryPolicy {
    var policy = RetryPolicy()
    policy.methods = .all
    return policy
  }

  @Test(arguments: wrappings.indices)
  func `a place comes back from answers that are retried, redirected or refused`(_ index: Int) async throws {
    let transport = FakeTransport { _, number in
      switch number {
      case 0: .response(503, [], "later")
      case 1: .failure(.connectionLost)
      case 2: .response(302, [("Location", "http://a/next")])
      case 3: .begin(503, "half")
      default: .response(200, [], "ok")
      }
    }
    let limit = ConcurrencyLimit(1)
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = Self.wrappings[index]([limit, CircuitBreaker(), RateLimit(perSecond: 1e6, burst: 100)])
      $0.retry = self.quick()
    }
    let response = try await client.send(.get("http://a/"))
    #expect(response.attempts.map(\.number) == [1, 2, 3] && response.history.count == 1)
    #expect(limit.counts == (1, 0))
    #expect(try await response.body.collect(upTo: .kibibytes(1)) == Array("ok".utf8))
    #expect(limit.counts == (0, 0))
    #expect(transport.count == 5)
  }

  @Test(arguments: wrappings.indices)
  func `a place comes back from a cancelled call, a broken coding and a refusal behind it`(
    _ index: Int
  ) async throws {
    let transport = FakeTransport { _, number in
      switch number {
      case 0: .hang
      case 1: .response(200, [("Content-Encoding", "unheard-of")], "x")
      default: .failure(.connectFailed)
      }
    }
    var settings = CircuitBreaker.Settings()
    (settings.window, settings.minimumCalls) = (2, 2)
    let limit = ConcurrencyLimit(1)
    let breaker = CircuitBreaker(settings)
    let client = Client.fake(transport, TestClock()) {
      $0.middlewares = Self.wrappings[index]([limit, breaker])
    }
    let hanging = Task { try await client.send(.get("http://a/")) }
    await transport.opened(1)
    #expect(limit.counts == (1, 0))
    hanging.cancel()
    _ = await hanging.result
    #expect(limit.counts == (0, 0))
    let coding = await failure { try await client.send(.get("http://a/")) }
    #expect(coding?.kind == .contentEncoding && limit.counts == (0, 0))
    var kinds: [HTTPError.Kind?] = []
    for _ in 0..<4 { kinds.append(await failure { try await client.send(.get("http://a/")) }?.kind) }
    #expect(kinds.first == .connectFailed && kinds.last == .circuitOpen)
    #expect(breaker.state(of: Self.key) == .open && limit.counts == (0, 0))
  }

  @Test func `a guard that must wait wraps what is inside of it, in the order that was given`() async throws {
    let clock = TestClock()
    let transport = FakeTransport { _, _ in .response(200, [], "ok") }
    let limit = ConcurrencyLimit(1)
    let running = Mutex<[Int]>([])
    let client = Client.fake(transport, clock) {
      $0.middlewares = [
        limit,
        RateLimit(perSecond: 1, observer: { _ in running.withLock { $0.append(limit.counts.running) } }),
      ]
    }
    for _ in 0..<3 { #expect(try await client.text(.get("http://a/")) == "ok") }
    // The place was taken before the wait, and was kept through it.
    #expect(running.withLock { $0 } == [1, 1] && clock.sleeps == [.seconds(1), .seconds(1)])
    #expect(limit.counts == (0, 0))
  }

  @Test func `what a reader of events leaves gives its place back`() async throws {
    let transport = FakeTransport { _, number in number == 0 ? .hang : .begin(200, "a") }
    let limit = ConcurrencyLimit(1)
    let client = Client.fake(transport, TestClock()) { $0.middlewares = [limit] }
    let reading = Task { for try await _ in client.events(.get("http://a/")) {} }
    await transport.opened(1)
    reading.cancel()
    _ = await reading.result
    #expect(await reached { limit.counts == (0, 0) })
    for try await event in client.events(.get("http://a/")) { if case .body = event { break } }
    #expect(await reached { limit.counts == (0, 0) })
  }

  @Test func `a token that is here needs no wait, and a refusal finds the refresh all the same`() async throws
  {
    let refreshes = Atomic(0)
    var options = SessionOptions()
    options.refresher = .closure { _, _ in
      refreshes.add(1, ordering: .relaxed)
      return Session(token: "new", refreshToken: "r")
    }
    let auth = SessionAuthenticator(
      store: MemorySessionStore(Session(token: "old", refreshToken: "r")), options: options)
    let transport = FakeTransport { request, number in
      request.headers["Authorization"] == "Bearer new"
        ? .response(number % 3 == 0 ? 503 : 200, [], "ok") : .response(401, [], "no")
    }
    let limit = ConcurrencyLimit(2)
    let client = Client.fake(transport, TestClock()) {
      $0.credentials = [
        ScopedCredential(auth, for: "http://a"), ScopedCredential(.header("X-Key", "k"), for: "http://a"),
      ]
      $0.middlewares = [limit]
      $0.retry = RetryPolicy()
    }
    for _ in 0..<6 { #expect(try await client.text(.get("http://a/")) == "ok") }
    #expect(refreshes.load(ordering: .relaxed) == 1 && limit.counts == (0, 0))
    #expect(transport.requests.allSatisfy { $0.headers[all: "X-Key"] == ["k"] })
    #expect(transport.requests.allSatisfy { $0.headers[all: "Authorization"].count == 1 })
  }

  @Test func `fields of other requests are not mixed up with the last one's`() async throws {
    let transport = FakeTransport { _, _ in .response(200) }
    let client = Client.fake(transport, TestClock()) {
      $0.credentials = [ScopedCredential(.bearer("t"), for: "http://a")]
    }
    for (host, field) in [("a", "1"), ("b", "1"), ("a", "2"), ("a", "1"), ("b", "2"), ("a", "1")] {
      _ = try await client.send(.get("http://\(host)/", headers: ["X-Field": field]))
      _ = try await client.send(.get("http://\(host)/"))
    }
    let seen = transport.requests.map {
      "\($0.url) \($0.headers["X-Field"] ?? "-") \($0.headers["Authorization"] ?? "-")"
    }
    var wanted: [String] = []
    for (host, field) in [("a", "1"), ("b", "1"), ("a", "2"), ("a", "1"), ("b", "2"), ("a", "1")] {
      let token = host == "a" ? "Bearer t" : "-"
      wanted += ["http://\(host)/ \(field) \(token)", "http://\(host)/ - \(token)"]
    }
    #expect(seen == wanted)
    let bad = await failure { try await client.send(.get("http://a/", headers: ["X Field": "1"])) }
    #expect(bad == nil || bad?.kind == .invalidHeader)
  }
}
