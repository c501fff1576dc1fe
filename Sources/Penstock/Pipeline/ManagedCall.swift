/// The state of a call that has more on its way than redirects: middlewares, retries, credentials, a deadline.
/// A call without any has none of it.
final class ManagedCall: @unchecked Sendable {
  // Sendable: it belongs to one `PipelineRun`, which one task at a time drives; so checking each access finds nothing.
  let callMiddlewares: [any Middleware]
  let attemptMiddlewares: AttemptMiddlewares
  let authorizer: (any AttemptAuthorizer)?
  /// Nil: nothing is retried.
  private let policy: RetryPolicy?
  /// Made when something is amiss for the first time: most calls never need it.
  @exclusivity(unchecked) private var retry: RetryStateMachine?
  @exclusivity(unchecked) private var attemptBegan: MonotonicInstant
  /// Attempts that failed and were followed by another.
  @exclusivity(unchecked) private(set) var failedAttempts: [HTTPError.Attempt] = []
  let begin: MonotonicInstant
  let deadline: MonotonicInstant?
  /// Where events go that happen inside middlewares.
  let report: (@Sendable (TransferEvent) -> Void)?
  /// Runs the middlewares for a reader of events.
  var relay: EventRelay?
  /// The wait before the next attempt.
  @exclusivity(unchecked) var delay: Duration?
  /// Sendings begun.
  @exclusivity(unchecked) var number = 0
  @exclusivity(unchecked) var resends = 0
  /// What was sent, while the answer is awaited.
  @exclusivity(unchecked) var sent: AuthorizedRequest?

  /// The head that came for it, while more than a look at it is needed.
  @exclusivity(unchecked) var arrived: DeliveredHead?
  /// The guards that let it through at once.
  @exclusivity(unchecked) private(set) var passes: GuardPasses?
  @exclusivity(unchecked) private var passesSawHead = false

  deinit {
    relay?.cancel()
    endPasses(.cancelled)
  }

  /// Nil when nothing of it is needed; then nothing is allocated either.
  static func make(_ request: Request, client: Client) -> ManagedCall? {
    let stages = client.stages
    let limit = Deadline.current
    if stages.isEmpty, limit == nil {
      if request.hasNoChoices { return nil }
      let choices = request.choices.value
      if choices.retry == nil, choices.authorizer == nil, choices.middlewares.isEmpty { return nil }
    }
    return ManagedCall(request, client: client, limit: limit)
  }

  private init(_ request: Request, client: Client, limit: Deadline?) {
    let stages = client.stages
    let begin = stages.clock.now()
    self.begin = begin
    report = nil
    var total = client.timeouts.total
    var policy = stages.retry
    if request.hasNoChoices {
      authorizer = stages.authorizer
      callMiddlewares = stages.callMiddlewares
      attemptMiddlewares = stages.attemptMiddlewares
    } else {
      let choices = request.choices.value
      authorizer = choices.isExemptFromAuthorization ? nil : choices.authorizer ?? stages.authorizer
      let own = choices.middlewares
      callMiddlewares = stages.callMiddlewares + own.filter { $0.scope == .call }
      attemptMiddlewares = stages.attemptMiddlewares.adding(own.filter { $0.scope == .attempt })
      if let timeouts = choices.timeouts { total = timeouts.total }
      policy = choices.retry ?? policy
    }
    deadline =
      total == nil && limit == nil
      ? nil : .earlier(total.map { begin + $0 }, limit?.moment)
    attemptBegan = begin
    self.policy = policy.flatMap { $0.limit > 0 ? $0 : nil }
    if self.policy != nil { stages.allowance?.earn() }
  }

  /// The inside of the call middlewares of another.
  init(
    inside context: MiddlewareContext, _ request: Request, attemptMiddlewares: AttemptMiddlewares
  ) {
    let stages = context.client.stages
    let choices = request.choices.value
    begin = stages.clock.now()
    callMiddlewares = []
    self.attemptMiddlewares = attemptMiddlewares
    authorizer = choices.isExemptFromAuthorization ? nil : choices.authorizer ?? stages.authorizer
    deadline = context.limit
    report = context.report
    attemptBegan = begin
    policy = (choices.retry ?? stages.retry).flatMap { $0.limit > 0 ? $0 : nil }
    if policy != nil { stages.allowance?.earn() }
  }

  /// Whether middlewares run beside the reader of events, and not in its task.
  func needsRelay(reportsEvents: Bool) -> Bool {
    reportsEvents && report == nil && !(callMiddlewares.isEmpty && attemptMiddlewares.isEmpty)
  }

  // MARK: retries

  var retries: Bool { policy != nil }
  /// Whether the request gets a field by which the server knows its repeats, unless it is idempotent or has one.
  var addsIdempotencyKey: Bool { policy.map { $0.methods == .all && $0.addsIdempotencyKey } ?? false }

  /// An attempt is under way from now on; the first one that nothing was waited for began with the call.
  func begins(_ clock: PipelineClock, hasWaited: Bool) {
    number += 1
    if number > 1 || hasWaited { attemptBegan = clock.now() }
  }

  /// Whether the retry stage may have something to say to an answer.
  func mayRetry(_ head: ResponseHead) -> Bool {
    guard let policy else { return false }
    return head.status.code >= 400 || !policy.looksAtTroubleAlone
  }

  /// What the retry stage makes of an outcome: nil when it stands.
  func retried(
    _ outcome: RetryRule.Outcome, _ request: Request, _ stages: PipelineStages
  ) -> (attempt: RetryAttempt, holdsHost: Bool)? {
    guard let policy else { return nil }
    let clock = stages.clock
    var machine = retry ?? RetryStateMachine(policy, begin: begin, deadline: deadline)
    machine.attemptBegins(at: attemptBegan)
    let action = machine.ended(
      outcome, method: request.method, canResend: request.body.isEmpty || request.body.isReplayable,
      now: clock.now(), epoch: clock.secondsSinceEpoch(), random: clock.random())
    guard case .retry(let delay, let holdsHost) = action, let failed = machine.attempts.last else {
      return nil
    }
    if let allowance = stages.allowance, !allowance.spend(at: clock.now()) { return nil }
    retry = machine
    failedAttempts = machine.attempts
    self.delay = delay
    return (RetryAttempt(number: failed.number + 1, delay: delay, failed: failed), holdsHost)
  }

  // MARK: the attempt's guards

  /// Enters those guards that let an attempt through at once; false when there are others.
  func enterGuards(_ request: Request, _ stages: PipelineStages) -> Bool {
    guard !attemptMiddlewares.isEmpty else { return true }
    let passes = GuardPasses(attemptMiddlewares.prompt, request, stages)
    self.passes = passes
    passesSawHead = false
    return passes.count == attemptMiddlewares.all.count
  }

  /// They are somebody else's to end from now on.
  func takePasses() -> GuardPasses? { passes.take() }

  /// The head is here.
  func passesSee(_ head: ResponseHead) {
    guard let passes, !passesSawHead else { return }
    passes.ended(.head(head))
    passesSawHead = true
    if !passes.lastWithBody { self.passes = nil }
  }

  /// The attempt is over, with an error or since its answer isn't wanted.
  func endPasses(_ error: @autoclosure () -> HTTPError) {
    guard let passes = passes.take() else { return }
    if passesSawHead { passes.bodyEnded() } else { passes.ended(.failure(error())) }
  }

  func attempt(_ request: Request, hop: Int, client: Client) -> AuthorizationAttempt {
    AuthorizationAttempt(
      client: client, request: request, number: number, hop: hop, resends: resends, deadline: deadline)
  }
}

extension MonotonicInstant {
  /// The earlier one of those that there are.
  static func earlier(_ one: Self?, _ other: Self?) -> Self? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }
}
