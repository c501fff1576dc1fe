/// The attempts of one input. Retries are the batch's own: one that waits gives its place to others.
struct BatchAttempts: Sendable {
  /// How many were begun.
  var count = 0
  private var retries: RetryStateMachine?
  private var deadline: MonotonicInstant?
  /// What all attempts carry, where a server is to know the repeats.
  private var idempotencyKey: String?

  /// The error of an input that isn't waited for any more.
  var cancelled: HTTPError { listing(.cancelled) }

  /// An error with what came before it.
  func listing(_ error: HTTPError) -> HTTPError { error.listing(retries?.attempts ?? []) }

  /// An attempt begins; returns what is sent.
  mutating func begin(
    _ request: Request, _ policy: RetryPolicy?, _ client: Client
  ) throws(HTTPError) -> Request {
    count += 1
    guard let policy, policy.limit > 0 else { return request }
    let stages = client.stages
    let now = stages.clock.now()
    if let name = policy.invalidSetting {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the setting \"retry.\(name)\" is out of range")
    }
    var request = request
    // The pipeline would keep the place while it waits.
    if request.retry != nil || stages.retry != nil { request.retry = RetryPolicy.none }
    let limits = request.timeouts ?? client.configuration.timeouts
    if count == 1 {
      deadline = limits.total.map { now + $0 }
      retries = RetryStateMachine(policy, begin: now, deadline: deadline)
      stages.allowance?.earn()
      if policy.methods == .all, policy.addsIdempotencyKey, !request.method.isIdempotent,
        !request.headers.contains(IdempotencyKey.field)
      {
        idempotencyKey = IdempotencyKey.make(stages.clock.random)
      }
    } else if let deadline {
      // One total limit over all attempts.
      var left = limits
      left.total = max(.zero, deadline - now)
      request.timeouts = left
    }
    if let idempotencyKey { request.headers.append(IdempotencyKey.field, idempotencyKey) }
    retries?.attemptBegins(at: now)
    return request
  }

  /// What follows from how an attempt ended: nil when that stands, else how long to wait for the next.
  mutating func ended(
    _ outcome: RetryRule.Outcome, _ request: Request, _ client: Client
  ) -> (delay: Duration, holdsHost: Bool)? {
    guard var retries else { return nil }
    let stages = client.stages
    let now = stages.clock.now()
    let action = retries.ended(
      outcome, method: request.method, canResend: request.body.isEmpty || request.body.isReplayable, now: now,
      epoch: stages.clock.secondsSinceEpoch(), random: stages.clock.random())
    guard case .retry(let delay, let holdsHost) = action else { return nil }
    if let allowance = stages.allowance, !allowance.spend(at: now) { return nil }
    self.retries = retries
    return (delay, holdsHost)
  }
}
