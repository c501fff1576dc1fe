/// The state of a call that has more on its way than redirects: middlewares, retries, credentials, a deadline.
/// A call without any has none of it.
final class ManagedCall: @unchecked Sendable {
  // Sendable: it belongs to one `PipelineRun`, which one task at a time drives.
  let callMiddlewares: [any Middleware]
  let attemptMiddlewares: [any Middleware]
  let authorizer: (any AttemptAuthorizer)?
  var retry: RetryStateMachine?
  let deadline: ContinuousClock.Instant?
  /// Where events go that happen inside middlewares.
  let report: (@Sendable (TransferEvent) -> Void)?
  /// Runs the middlewares for a reader of events.
  var relay: EventRelay?
  /// The wait before the next attempt.
  var delay: Duration?
  /// Sendings begun.
  var number = 0
  var resends = 0
  /// What was sent, while the answer is awaited.
  var sent: AuthorizedRequest?

  deinit { relay?.cancel() }

  /// Nil when nothing of it is needed; then nothing is allocated either.
  static func make(_ request: Request, client: Client) -> ManagedCall? {
    let stages = client.stages
    let limit = Deadline.current
    if request.hasNoChoices, stages.isEmpty, limit == nil { return nil }
    let choices = request.choices.value
    if stages.isEmpty, limit == nil, choices.retry == nil, choices.authorizer == nil,
      choices.middlewares.isEmpty
    {
      return nil
    }
    return ManagedCall(request, client: client, limit: limit)
  }

  private init(_ request: Request, client: Client, limit: Deadline?) {
    let stages = client.stages
    let choices = request.choices.value
    let policy = choices.retry ?? stages.retry
    let begin = stages.clock.now()
    let total = (choices.timeouts ?? client.configuration.timeouts).total
    authorizer = choices.isExemptFromAuthorization ? nil : choices.authorizer ?? stages.authorizer
    let own = choices.middlewares
    callMiddlewares = stages.callMiddlewares + own.filter { $0.scope == .call }
    attemptMiddlewares = stages.attemptMiddlewares + own.filter { $0.scope == .attempt }
    deadline = [total.map { begin + $0 }, limit?.instant].compactMap { $0 }.min()
    report = nil
    startRetries(policy, stages, begin)
  }

  /// The inside of the call middlewares of another.
  init(
    inside context: MiddlewareContext, _ request: Request, attemptMiddlewares: [any Middleware]
  ) {
    let stages = context.client.stages
    let choices = request.choices.value
    callMiddlewares = []
    self.attemptMiddlewares = attemptMiddlewares
    authorizer = choices.isExemptFromAuthorization ? nil : choices.authorizer ?? stages.authorizer
    deadline = context.deadline
    report = context.report
    startRetries(choices.retry ?? stages.retry, stages, stages.clock.now())
  }

  private func startRetries(
    _ policy: RetryPolicy?, _ stages: PipelineStages, _ begin: ContinuousClock.Instant
  ) {
    guard let policy, policy.limit > 0 else { return }
    retry = RetryStateMachine(policy, begin: begin, deadline: deadline)
    stages.allowance?.earn()
  }

  /// Whether middlewares run beside the reader of events, and not in its task.
  func needsRelay(reportsEvents: Bool) -> Bool {
    reportsEvents && report == nil && !(callMiddlewares.isEmpty && attemptMiddlewares.isEmpty)
  }

  func attempt(_ request: Request, hop: Int, client: Client) -> AuthorizationAttempt {
    AuthorizationAttempt(
      client: client, request: request, number: number, hop: hop, resends: resends, deadline: deadline)
  }
}
