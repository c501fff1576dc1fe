import StreamCore

/// The retries of one call: what each failed attempt leads to. Pure; time and chance come in.
struct RetryStateMachine: Sendable {
  enum Action: Sendable, Equatable {
    /// The outcome stands.
    case giveUp
    /// Another attempt after a wait. `holdsHost`: the server asked for it, so others wait too.
    case retry(after: Duration, holdsHost: Bool)
  }

  private let policy: RetryPolicy
  private let deadline: MonotonicInstant?
  /// Retries made for each rule; empty while there are none.
  private var counts: [Int] = []
  private var attemptBegan: MonotonicInstant
  /// Those that failed and were followed by another.
  private(set) var attempts: [HTTPError.Attempt] = []

  /// - Parameter deadline: when the call must be over by its time limit.
  init(_ policy: RetryPolicy, begin: MonotonicInstant, deadline: MonotonicInstant?) {
    self.policy = policy
    self.deadline = .earlier(deadline, policy.totalTime.map { begin + $0 })
    attemptBegan = begin
  }

  /// An attempt is under way from now on.
  mutating func attemptBegins(at now: MonotonicInstant) { attemptBegan = now }

  /// An attempt has ended.
  ///
  /// - Parameters:
  ///   - canResend: whether the request's body can be sent once more.
  ///   - epoch: seconds since 1970.
  ///   - random: a number in 0..<1.
  ///
  /// Time and chance are asked for only when a rule speaks of the outcome: most calls never get there.
  mutating func ended(
    _ outcome: RetryRule.Outcome, method: HTTPMethod, canResend: Bool,
    now time: @autoclosure () -> MonotonicInstant, epoch: @autoclosure () -> Int64,
    random: @autoclosure () -> Double
  ) -> Action {
    guard attempts.count < policy.limit, canResend, !Self.isFinal(outcome),
      let index = policy.rules.firstIndex(where: { $0.matches(outcome) })
    else { return .giveUp }
    let rule = policy.rules[index]
    if let limit = rule.limit, (counts.isEmpty ? 0 : counts[index]) >= limit { return .giveUp }
    guard Self.surelyNotProcessed(outcome) || (rule.methods ?? policy.methods).contains(method) else {
      return .giveUp
    }
    let asked = policy.heedsRetryAfter ? Self.retryAfter(outcome, epoch: epoch()) : nil
    let delay =
      asked.map { min($0, policy.maximumDelay) }
      ?? (rule.backoff ?? policy.backoff).delay(
        retry: attempts.count + 1, maximum: policy.maximumDelay, random: random())
    let now = time()
    if let deadline, now + delay >= deadline { return .giveUp }
    if counts.isEmpty { counts = Array(repeating: 0, count: policy.rules.count) }
    counts[index] += 1
    attempts.append(Self.attempt(outcome, number: attempts.count + 1, duration: now - attemptBegan))
    return .retry(after: delay, holdsHost: asked != nil && delay > .zero)
  }

  /// The retry that was just decided isn't made after all.
  mutating func withdraw() { _ = attempts.popLast() }

  /// Whether nothing may follow, whatever the rules say.
  private static func isFinal(_ outcome: RetryRule.Outcome) -> Bool {
    guard case .failure(let error) = outcome else { return false }
    return error.kind == .cancelled || error.kind == .shutdown || error.kind == .totalTimeout
  }

  private static func surelyNotProcessed(_ outcome: RetryRule.Outcome) -> Bool {
    guard case .failure(let error) = outcome else { return false }
    return !error.mayHaveBeenProcessed && error.status == nil
  }

  /// The first value that can be read; others are as if they weren't there.
  static func retryAfter(_ outcome: RetryRule.Outcome, epoch: Int64) -> Duration? {
    guard case .head(let head) = outcome else { return nil }
    for value in head.headers[all: "Retry-After"] {
      guard let after = RetryAfter(value) else { continue }
      let seconds = after.seconds(from: HTTPDate(secondsSinceEpoch: epoch))
      return .seconds(min(seconds, 1_000_000_000))
    }
    return nil
  }

  private static func attempt(
    _ outcome: RetryRule.Outcome, number: Int, duration: Duration
  ) -> HTTPError.Attempt {
    switch outcome {
    case .head(let head):
      HTTPError.Attempt(
        number: number, kind: nil, status: head.status, reason: "status \(head.status)", duration: duration)
    case .failure(let error):
      HTTPError.Attempt(
        number: number, kind: error.kind, status: error.status, reason: error.message, duration: duration)
    }
  }
}
