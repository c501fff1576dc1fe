/// What a client's calls share beside the transport: its middlewares, its authorizer, and the state of the retry
/// stage.
final class PipelineStages: Sendable {
  let callMiddlewares: [any Middleware]
  let attemptMiddlewares: AttemptMiddlewares
  let authorizer: (any AttemptAuthorizer)?
  let credentials: ClientCredentials
  let retry: RetryPolicy?
  let allowance: RetryAllowance?
  let holds = HostHolds()
  let clock: PipelineClock
  /// Nothing stands between a call and the transport unless its request says so.
  let isEmpty: Bool

  init(_ configuration: ClientConfiguration, _ ending: ClientEnding) {
    callMiddlewares = configuration.middlewares.filter { $0.scope == .call }
    attemptMiddlewares = AttemptMiddlewares(configuration.middlewares.filter { $0.scope == .attempt })
    authorizer = configuration.authorizer ?? AuthorizationStage.of(configuration)
    credentials = ClientCredentials(configuration)
    retry = configuration.retry
    clock = configuration.clock.ending(with: ending)
    allowance = configuration.retryBudget.map { RetryAllowance($0, now: configuration.clock.now()) }
    isEmpty = configuration.middlewares.isEmpty && authorizer == nil && retry == nil
  }
}

extension Request {
  /// Stages around this call, inside the client's; the first is outermost.
  public var middlewares: [any Middleware] {
    get { choices.value.middlewares }
    set { choices.value.middlewares = newValue }
  }

  /// Credentials for this request, in place of the client's.
  package var authorizer: (any AttemptAuthorizer)? {
    get { choices.value.authorizer }
    set { choices.value.authorizer = newValue }
  }

  /// Whether the auth stage leaves the request alone: for what that stage sends itself.
  package var isExemptFromAuthorization: Bool {
    get { choices.value.isExemptFromAuthorization }
    set { choices.value.isExemptFromAuthorization = newValue }
  }
}
