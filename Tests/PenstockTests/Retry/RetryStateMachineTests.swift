import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct RetryStateMachineTests {
  private static let begin = MonotonicInstant.now
  private static let epoch: Int64 = 784_111_777  // Sun, 06 Nov 1994 08:49:37 GMT

  private static func head(_ status: Int, _ fields: [(String, String)] = []) -> RetryRule.Outcome {
    var headers = HTTPFields()
    for (name, value) in fields { headers.append(name, value) }
    return .head(ResponseHead(status: HTTPStatus(status), headers: headers))
  }

  private static func failure(_ kind: HTTPError.Kind, sent: Bool = true) -> RetryRule.Outcome {
    .failure(HTTPError(kind, phase: .head, message: "failed", mayHaveBeenProcessed: sent))
  }

  private static func machine(
    _ edit: (inout RetryPolicy) -> Void = { _ in }, deadline: Duration? = nil
  ) -> RetryStateMachine {
    var policy = RetryPolicy()
    edit(&policy)
    return RetryStateMachine(policy, begin: begin, deadline: deadline.map { begin + $0 })
  }

  private static func ended(
    _ machine: inout RetryStateMachine, _ outcome: RetryRule.Outcome, method: HTTPMethod = .get,
    canResend: Bool = true, after: Duration = .zero, random: Double = 1
  ) -> RetryStateMachine.Action {
    machine.ended(
      outcome, method: method, canResend: canResend, now: begin + after, epoch: epoch, random: random)
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
  func `these statuses are retried`(status: Int) {
    var machine = Self.machine()
    #expect(
      Self.ended(&machine, Self.head(status)) == .retry(after: .milliseconds(500), holdsHost: false))
    #expect(machine.attempts.map(\.status) == [HTTPStatus(status)])
  }

  @Test(arguments: [200, 204, 301, 304, 400, 401, 403, 404, 409, 410, 501, 505])
  func `other statuses stand`(status: Int) {
    var machine = Self.machine()
    #expect(Self.ended(&machine, Self.head(status)) == .giveUp)
    #expect(machine.attempts.isEmpty)
  }

  @Test func `which failures are retried`() {
    let retried: Set<HTTPError.Kind> = [
      .connectFailed, .emptyReply, .sendFailed, .receiveFailed, .connectionLost, .http2Framing, .http2Stream,
      .truncated, .connectTimeout, .firstByteTimeout, .idleTimeout,
    ]
    for kind in HTTPError.Kind.allCases {
      var machine = Self.machine()
      let action = Self.ended(&machine, Self.failure(kind))
      #expect((action != .giveUp) == retried.contains(kind), "\(kind)")
    }
  }

  @Test(arguments: [
    (HTTPMethod.get, RetryPolicy.Methods.safe, true), (.put, .safe, false), (.put, .idempotent, true),
    (.delete, .idempotent, true), (.post, .idempotent, false), (.patch, .idempotent, false),
    (.post, .all, true), (HTTPMethod("LOCK"), .idempotent, false), (HTTPMethod("get"), .idempotent, false),
  ])
  func `methods decide where the server may have acted`(
    _ method: HTTPMethod, _ methods: RetryPolicy.Methods, _ isRetried: Bool
  ) {
    var machine = Self.machine { $0.methods = methods }
    #expect((Self.ended(&machine, Self.failure(.connectionLost), method: method) != .giveUp) == isRetried)
    var other = Self.machine { $0.methods = methods }
    #expect((Self.ended(&other, Self.head(503), method: method) != .giveUp) == isRetried)
  }

  @Test func `what surely wasn't sent is retried whatever the method`() {
    var machine = Self.machine()
    #expect(Self.ended(&machine, Self.failure(.connectFailed, sent: false), method: .post) != .giveUp)
  }

  @Test func `a body that can be read once is never sent again`() {
    var machine = Self.machine { $0.methods = .all }
    #expect(Self.ended(&machine, Self.head(503), canResend: false) == .giveUp)
  }

  @Test(arguments: [HTTPError.Kind.cancelled, .shutdown, .totalTimeout])
  func `some failures are never retried, whatever a rule says`(kind: HTTPError.Kind) {
    var machine = Self.machine { $0.rules = [RetryRule { _ in true }] }
    #expect(Self.ended(&machine, Self.failure(kind, sent: false)) == .giveUp)
  }

  @Test func `the limit counts retries`() {
    var machine = Self.machine { $0.limit = 2 }
    #expect(Self.ended(&machine, Self.head(503)) != .giveUp)
    #expect(Self.ended(&machine, Self.head(503)) != .giveUp)
    #expect(Self.ended(&machine, Self.head(503)) == .giveUp)
    #expect(machine.attempts.map(\.number) == [1, 2])
  }

  @Test func `each rule has a limit of its own`() {
    var machine = Self.machine {
      $0.limit = 10
      $0.rules = [.statuses([429], limit: 1), .statuses([503], limit: 2)]
    }
    #expect(Self.ended(&machine, Self.head(429)) != .giveUp)
    #expect(Self.ended(&machine, Self.head(503)) != .giveUp)
    #expect(Self.ended(&machine, Self.head(429)) == .giveUp)
    #expect(Self.ended(&machine, Self.head(503)) != .giveUp)
    #expect(Self.ended(&machine, Self.head(503)) == .giveUp)
  }

  @Test func `the first rule that matches decides`() {
    var machine = Self.machine { $0.rules = [.statuses([503], limit: 0)] + RetryRule.standard }
    #expect(Self.ended(&machine, Self.head(503)) == .giveUp)
    #expect(Self.ended(&machine, Self.head(502)) != .giveUp)
  }

  @Test func `a rule of one's own brings methods and waits`() {
    var backoff = RetryBackoff()
    backoff.base = .seconds(3)
    let rule = RetryRule(methods: .all, backoff: backoff) { outcome in
      if case .head(let head) = outcome { head.status == 409 } else { false }
    }
    var machine = Self.machine { $0.rules = [rule] }
    #expect(
      Self.ended(&machine, Self.head(409), method: .post) == .retry(after: .seconds(3), holdsHost: false))
  }

  @Test(arguments: [
    ("7", 7), ("0", 0), (" 5 ", 5), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
    ("Sunday, 06-Nov-94 08:49:47 GMT", 10), ("Sun Nov  6 08:49:47 1994", 10),
    ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("3600", 60), ("99999999999999999999999", 60),
  ])
  func `Retry-After is heeded and cut`(value: String, seconds: Int) {
    var machine = Self.machine()
    #expect(
      Self.ended(&machine, Self.head(503, [("Retry-After", value)]))
        == .retry(after: .seconds(seconds), holdsHost: seconds > 0))
  }

  @Test(arguments: ["", "soon", "-1", "1.5", "+3", "1e3", "Sun, 31 Feb 1994 08:49:47 GMT"])
  func `a Retry-After that can't be read is as if it weren't there`(value: String) {
    var machine = Self.machine()
    #expect(
      Self.ended(&machine, Self.head(503, [("Retry-After", value)]))
        == .retry(after: .milliseconds(500), holdsHost: false))
    var second = Self.machine()
    #expect(
      Self.ended(&second, Self.head(503, [("Retry-After", value), ("retry-after", "4")]))
        == .retry(after: .seconds(4), holdsHost: true))
  }

  @Test func `Retry-After can be left aside`() {
    var machine = Self.machine { $0.heedsRetryAfter = false }
    #expect(
      Self.ended(&machine, Self.head(503, [("Retry-After", "9")]))
        == .retry(after: .milliseconds(500), holdsHost: false))
  }

  @Test func `waits double up to the longest`() {
    var machine = Self.machine {
      $0.limit = 9
      $0.maximumDelay = .seconds(10)
    }
    var waits: [Duration] = []
    while case .retry(let wait, _) = Self.ended(&machine, Self.head(503)) { waits.append(wait) }
    #expect(waits.map { $0 / .seconds(1) } == [0.5, 1, 2, 4, 8, 10, 10, 10, 10])
  }

  @Test func `waits are drawn from zero to the longest`() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<1000 {
      var machine = Self.machine { $0.limit = 4 }
      var longest = 0.5
      while case .retry(let wait, _) = Self.ended(
        &machine, Self.head(503), random: Double.random(in: 0..<1, using: &generator))
      {
        #expect(wait >= .zero && wait <= .seconds(longest))
        longest *= 2
      }
    }
    var backoff = RetryBackoff()
    backoff.jitters = false
    #expect(backoff.delay(retry: 3, maximum: .seconds(60), random: 0.1) == .seconds(2))
    #expect(backoff.delay(retry: .max, maximum: .seconds(60), random: 0.1) == .seconds(60))
  }

  @Test func `no retry begins that couldn't begin in time`() {
    var machine = Self.machine(deadline: .seconds(5))
    #expect(Self.ended(&machine, Self.head(503, [("Retry-After", "5")])) == .giveUp)
    #expect(Self.ended(&machine, Self.head(503, [("Retry-After", "4")])) != .giveUp)
    var own = Self.machine({ $0.totalTime = .seconds(3) }, deadline: .seconds(5))
    #expect(Self.ended(&own, Self.head(503, [("Retry-After", "2")]), after: .seconds(1)) == .giveUp)
    #expect(Self.ended(&own, Self.head(503, [("Retry-After", "1")]), after: .seconds(1)) != .giveUp)
  }

  @Test func `attempts tell what went wrong and how long they took`() {
    var machine = Self.machine()
    machine.attemptBegins(at: Self.begin + .seconds(1))
    _ = Self.ended(&machine, Self.failure(.emptyReply), after: .seconds(3))
    machine.attemptBegins(at: Self.begin + .seconds(4))
    _ = Self.ended(&machine, Self.head(503), after: .seconds(5))
    #expect(machine.attempts.map(\.description) == ["failed after 2.0 s", "status 503 after 1.0 s"])
    #expect(machine.attempts.map(\.kind) == [.emptyReply, nil])
  }

  /// Whatever happens, in whatever order: never more than allowed, never in vain, never too late.
  @Test func `random outcomes keep the rules`() {
    var generator = SeededGenerator(seed: 99)
    let kinds = HTTPError.Kind.allCases
    for _ in 0..<10_000 {
      let limit = generator.next(below: 5)
      let ruleLimit = generator.next(below: 4)
      let deadline = Duration.seconds(generator.next(below: 20) + 1)
      var machine = Self.machine(
        {
          $0.limit = limit
          $0.rules = [
            .statuses(limit: ruleLimit), .connectionErrors(limit: ruleLimit), .timeLimits(limit: ruleLimit),
          ]
          $0.maximumDelay = .seconds(8)
        }, deadline: deadline)
      var now = Duration.zero
      var retries = 0
      let method: HTTPMethod = generator.next(below: 2) == 0 ? .get : .post
      for _ in 0..<8 {
        let sent = generator.next(below: 2) == 0
        let outcome =
          generator.next(below: 2) == 0
          ? Self.head(200 + generator.next(below: 400), [("Retry-After", "\(generator.next(below: 12))")])
          : Self.failure(kinds[generator.next(below: kinds.count)], sent: sent)
        let action = Self.ended(
          &machine, outcome, method: method, after: now, random: Double.random(in: 0..<1, using: &generator))
        if case .retry(let wait, _) = action {
          retries += 1
          #expect(wait <= .seconds(8) && now + wait < deadline)
          if method == .post {
            guard case .failure(let error) = outcome else {
              Issue.record("a POST that was answered was retried")
              return
            }
            #expect(!error.mayHaveBeenProcessed)
          }
          now += wait
        }
        #expect(machine.attempts.count == retries && retries <= limit)
        now += .milliseconds(generator.next(below: 3000))
      }
    }
  }
}
