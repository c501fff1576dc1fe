import StreamCore
import Synchronization
import Testing

@testable import Penstock

/// Puts a token on each attempt; a 401 makes the next one, once for each call.
private final class Tokens: AttemptAuthorizer {
  let number = Mutex(1)
  let attempts = Mutex<[String]>([])
  let gate: (@Sendable () async -> Void)?

  init(gate: (@Sendable () async -> Void)? = nil) { self.gate = gate }

  func authorize(
    _ request: Request, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizedRequest {
    await gate?()
    if request.headers.contains("Authorization") {
      throw HTTPError(.loginDenied, phase: .queue, message: "it has credentials already")
    }
    let number = number.withLock { $0 }
    attempts.withLock { $0.append("\(attempt.number) hop \(attempt.hop) resends \(attempt.resends)") }
    var request = request
    request.headers["Authorization"] = "Bearer \(number)"
    return AuthorizedRequest(request, memo: number)
  }

  func judge(
    _ head: ResponseHead, to sent: AuthorizedRequest, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizationVerdict {
    guard head.status == 401, attempt.resends == 0 else { return .deliver }
    number.withLock { if sent.memo as? Int == $0 { $0 += 1 } }
    return .resend(attempt.request)
  }
}

@Suite(.timeLimit(.minutes(1))) struct AttemptAuthorizerTests {
  @Test func `each attempt is authorized afresh, and a 401 sent again once`() async throws {
    let tokens = Tokens()
    let transport = FakeTransport { request, number in
      switch number {
      case 0: .response(503)
      case 1: .response(401)
      case 2: .response(302, [("Location", "/b")])
      default: .response(200, [], request.headers["Authorization"] ?? "none")
      }
    }
    let client = Client.fake(transport, TestClock()) {
      $0.authorizer = tokens
      $0.retry = RetryPolicy()
    }
    #expect(try await client.text(.get("http://a/a")) == "Bearer 2")
    #expect(
      tokens.attempts.withLock { $0 } == [
        "1 hop 0 resends 0", "2 hop 0 resends 0", "3 hop 0 resends 1", "4 hop 1 resends 1",
      ])
  }

  @Test func `a second 401 is delivered`() async throws {
    let transport = FakeTransport { _, _ in .response(401) }
    let client = Client.fake(transport, TestClock()) { $0.authorizer = Tokens() }
    #expect(try await client.send(.get("http://a/")).status == 401)
    #expect(transport.count == 2)
  }

  @Test func `exempt requests, and requests with their own, go past the client's`() async throws {
    let transport = FakeTransport { request, _ in
      .response(200, [], request.headers["Authorization"] ?? "none")
    }
    let client = Client.fake(transport, TestClock()) { $0.authorizer = Tokens() }
    var request = Request.get("http://a/")
    request.isExemptFromAuthorization = true
    #expect(try await client.text(request) == "none")
    let own = Tokens()
    own.number.withLock { $0 = 7 }
    request.isExemptFromAuthorization = false
    request.authorizer = own
    #expect(try await client.text(request) == "Bearer 7")
  }

  @Test func `a body that can be read once isn't sent again`() async throws {
    let transport = FakeTransport { _, _ in .response(401) }
    let client = Client.fake(transport, TestClock()) { $0.authorizer = Tokens() }
    let parts = AsyncStream<[UInt8]> { $0.finish() }
    let error = await failure { try await client.send(.put("http://a/", body: .stream(parts))) }
    #expect(error?.kind == .bodyNotReplayable && error?.status == 401 && transport.count == 1)
  }

  @Test func `attempt middlewares see the credentials, call middlewares don't`() async throws {
    let seen = Mutex<[String]>([])
    let transport = FakeTransport { _, _ in .response(200) }
    let client = Client.fake(transport, TestClock()) {
      $0.authorizer = Tokens()
      $0.middlewares = [
        .processing(scope: .call) { request in
          seen.withLock { $0.append("call \(request.headers["Authorization"] ?? "none")") }
        },
        .processing(scope: .attempt) { request in
          seen.withLock { $0.append("attempt \(request.headers["Authorization"] ?? "none")") }
        },
      ]
    }
    _ = try await client.send(.get("http://a/"))
    #expect(seen.withLock { $0 } == ["call none", "attempt Bearer 1"])
  }

  @Test func `a call that is cancelled while it waits for credentials sends nothing`() async throws {
    let never = TestClock(holds: true)
    let (entered, enter) = AsyncStream<Void>.makeStream()
    let tokens = Tokens {
      enter.yield()
      try? await never.pipeline.wait(.seconds(3600), method: .get, url: "")
    }
    let transport = FakeTransport { _, _ in .hang }
    let client = Client.fake(transport, TestClock()) { $0.authorizer = tokens }
    let call = Task { try await client.send(.get("http://a/")) }
    var iterator = entered.makeAsyncIterator()
    _ = await iterator.next()
    call.cancel()
    let error = await failure { try await call.value }
    #expect(error?.kind == .cancelled)
  }
}
