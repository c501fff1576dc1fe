import Testing

@testable import Penstock

@Suite struct RetryBudgetTests {
  @Test func `calls earn retries, and time does`() {
    let begin = MonotonicInstant.now
    var budget = RetryBudget()
    budget.ratio = 0.5
    budget.perSecond = 1
    budget.burst = 2
    let allowance = RetryAllowance(budget, now: begin)
    #expect(allowance.spend(at: begin) && allowance.spend(at: begin))
    #expect(!allowance.spend(at: begin))
    allowance.earn()
    #expect(!allowance.spend(at: begin))
    allowance.earn()
    #expect(allowance.spend(at: begin))
    #expect(allowance.spend(at: begin + .seconds(1)))
    #expect(!allowance.spend(at: begin + .seconds(1)))
  }

  @Test func `a hold ends by itself and never becomes shorter`() {
    let begin = MonotonicInstant.now
    let holds = HostHolds()
    #expect(holds.wait("a", now: begin) == nil)
    holds.hold("a", until: begin + .seconds(5), now: begin)
    holds.hold("a", until: begin + .seconds(2), now: begin)
    #expect(holds.wait("a", now: begin + .seconds(1)) == .seconds(4))
    #expect(holds.wait("b", now: begin + .seconds(1)) == nil)
    #expect(holds.wait("a", now: begin + .seconds(5)) == nil)
  }

  @Test func `an idempotency key is a UUID of version 4`() {
    let key = IdempotencyKey.make { Double.random(in: 0..<1) }
    let parts = key.split(separator: "-")
    #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
    #expect(parts[2].first == "4" && "89ab".contains(parts[3].first ?? "x"))
    #expect(key != IdempotencyKey.make { Double.random(in: 0..<1) })
  }

  @Test(arguments: [
    ("limit", RetryPolicy(limit: -1)), ("maximumDelay", edited { $0.maximumDelay = .seconds(-1) }),
    ("backoff.base", edited { $0.backoff.base = .seconds(-1) }),
    ("backoff.factor", edited { $0.backoff.factor = .nan }),
    ("totalTime", edited { $0.totalTime = .seconds(-1) }),
  ])
  func `settings out of range are named, and nothing is sent`(name: String, policy: RetryPolicy) async {
    let transport = FakeTransport { _, _ in .response(200) }
    var request = Request.get("http://a/")
    request.retry = policy
    let clock = TestClock()
    let error = await failure { try await Client.fake(transport, clock).send(request) }
    #expect(error?.kind == .invalidConfiguration)
    #expect(error?.message.contains("retry.\(name)") == true)
    let other = await failure {
      try await Client.fake(transport, clock) { $0.retry = policy }.send(.get("http://a/"))
    }
    #expect(other?.message.contains("retry.\(name)") == true)
    #expect(transport.count == 0)
  }

  private static func edited(_ edit: (inout RetryPolicy) -> Void) -> RetryPolicy {
    var policy = RetryPolicy()
    edit(&policy)
    return policy
  }
}
