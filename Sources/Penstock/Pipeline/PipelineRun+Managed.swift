import CurlTransport

/// The stages that only some calls have: each attempt is prepared, made and judged here.
extension PipelineRun {
  /// An answer before it was judged: an open exchange, or what attempt middlewares returned.
  private enum Answer {
    case exchange(Exchange, DeliveredHead)
    case response(Response)

    var head: ResponseHead {
      switch self {
      case .exchange(_, let delivered): delivered.head
      case .response(let response): response.head
      }
    }

    func discard() {
      switch self {
      case .exchange(let exchange, _): exchange.finishUnread()
      case .response(let response): response.discard()
      }
    }
  }

  func next(_ managed: ManagedCall) async throws(HTTPError) -> Step {
    if managed.needsRelay(reportsEvents: reportsUpload) { return try await relayed(managed) }
    if !managed.callMiddlewares.isEmpty {
      return .response(
        try await MiddlewareChain.response(
          to: request, call: managed.callMiddlewares, attempt: managed.attemptMiddlewares,
          callContext(managed, report: nil)))
    }
    do throws(HTTPError) {
      while true {
        if let step = try await attemptStep(managed) { return step }
      }
    } catch {
      return try failed(error, managed)
    }
  }

  /// An attempt failed: it is made again, or the call fails.
  func failed(_ error: HTTPError, _ managed: ManagedCall) throws(HTTPError) -> Step {
    exchange = nil
    managed.arrived = nil
    managed.endPasses(error)
    if managed.sent != nil, let retry = retried(.failure(error), managed) {
      startAnew(managed)
      return .event(.retry(retry))
    }
    throw error.listing(managed.failedAttempts)
  }

  private func relayed(_ managed: ManagedCall) async throws(HTTPError) -> Step {
    if let relay = managed.relay { return try await relay.next(request.method, request.url) }
    let relay = EventRelay()
    managed.relay = relay
    // The task must not hold the call: that goes with its reader, and cancels the task.
    let context = callContext(managed) { [weak relay] in relay?.report($0) }
    let (request, call, attempt) = (request, managed.callMiddlewares, managed.attemptMiddlewares)
    relay.start { () async throws(HTTPError) in
      try await MiddlewareChain.response(to: request, call: call, attempt: attempt, context)
    }
    return try await relay.next(request.method, request.url)
  }

  private func callContext(
    _ managed: ManagedCall, report: (@Sendable (TransferEvent) -> Void)?
  ) -> MiddlewareContext {
    MiddlewareContext(client: client, attempt: 1, hop: 0, limit: managed.deadline, report: report)
  }

  /// The next thing that happens; nil when the attempt leads to another one that nobody is told of.
  private func attemptStep(_ managed: ManagedCall) async throws(HTTPError) -> Step? {
    let sent: AuthorizedRequest
    if let current = managed.sent { sent = current } else { sent = try await begun(managed) }
    if !managed.attemptMiddlewares.isEmpty, exchange == nil {
      return try await settle(.response(try await throughMiddlewares(sent.request, managed)), sent, managed)
    }
    let exchange: Exchange
    if let current = self.exchange { exchange = current } else { exchange = try open(sent.request) }
    self.exchange = exchange
    if let arrived = managed.arrived.take() {
      return try await settle(.exchange(exchange, arrived), sent, managed)
    }
    switch try await exchange.nextAhead(uploadSeen: reportsUpload ? uploadSeen : .max) {
    case .early(let early): return .event(event(early, exchange, &uploadSeen))
    case .head(let delivered):
      return try await settle(.exchange(exchange, delivered), sent, managed)
    }
  }

  /// All that comes before the sending of an attempt.
  private func begun(_ managed: ManagedCall) async throws(HTTPError) -> AuthorizedRequest {
    try prepare()
    let stages = client.stages
    if managed.number == 0 { try prepareRetries(managed) }
    if let delay = managed.delay {
      managed.delay = nil
      try await stages.clock.wait(delay, method: request.method, url: request.url)
    }
    if managed.retries, !stages.holds.isEmpty {
      // Somebody else was asked to wait; this call is for the same host.
      while let hold = stages.holds.wait(origin, now: stages.clock.now()) {
        let context = MiddlewareContext(
          client: client, attempt: managed.number + 1, hop: hops.count, limit: managed.deadline,
          report: nil)
        try await context.wait(hold, for: "the host, which asked not to be disturbed", request)
      }
    }
    managed.begins(stages.clock, hasWaited: true)
    let sent = try await authorized(managed)
    return sending(sent, managed)
  }

  /// What is sent, with the time that is left.
  private func sending(_ authorized: AuthorizedRequest, _ managed: ManagedCall) -> AuthorizedRequest {
    var sent = authorized
    if let deadline = managed.deadline {
      // One total limit over all hops and attempts.
      var limits = sent.request.timeouts ?? client.timeouts
      limits.total = max(.zero, deadline - client.stages.clock.now())
      sent.request.timeouts = limits
    }
    managed.sent = sent
    return sent
  }

  private func authorized(_ managed: ManagedCall) async throws(HTTPError) -> AuthorizedRequest {
    guard let authorizer = managed.authorizer else { return AuthorizedRequest(request) }
    let attempt = managed.attempt(request, hop: hops.count, client: client)
    return try await authorizer.authorize(request, attempt)
  }

  /// Auth, retry and redirects look at the answer, in this order.
  private func settle(
    _ answer: Answer, _ sent: AuthorizedRequest, _ managed: ManagedCall
  ) async throws(HTTPError) -> Step? {
    managed.passesSee(answer.head)
    guard let authorizer = managed.authorizer else { return try settleStanding(answer, managed) }
    let attempt = managed.attempt(request, hop: hops.count, client: client)
    if !authorizer.surelyStands(answer.head, to: sent),
      case .resend(let next) = try await authorizer.judge(answer.head, to: sent, attempt)
    {
      answer.discard()
      guard attempt.canResend else { throw bodyNotReplayable(answer.head) }
      managed.resends += 1
      request = next
      startAnew(managed)
      return nil
    }
    let step = try settleStanding(answer, managed)
    guard case .response(let response) = step else { return step }
    if authorizer.deliversAsIs(response.head, request, client) { return step }
    return .response(try await authorizer.delivered(response, to: sent, attempt))
  }

  /// Retry and redirects look at an answer that the auth stage lets stand.
  private func settleStanding(_ answer: Answer, _ managed: ManagedCall) throws(HTTPError) -> Step {
    let head = answer.head
    if managed.mayRetry(head), let retry = retried(.head(head), managed) {
      answer.discard()
      startAnew(managed)
      return .event(.retry(retry))
    }
    if let hop = try redirect(head.status, head, url: url(of: answer), discard: answer.discard) {
      startAnew(managed)
      return .event(.redirect(hop))
    }
    switch answer {
    case .exchange(let exchange, let arrived):
      let delivered = try response(to: request, exchange, arrived, managed.passes)
      // The body ends them from now on.
      _ = managed.takePasses()
      return .response(delivered)
    case .response(let response): return .response(response)
    }
  }

  // MARK: without a wait

  /// Starts the attempt that is due, or finds the one under way, if nothing must be waited for before it is sent. Nil:
  /// `next(managed)` goes on from what is there.
  func startedAtOnce(_ managed: ManagedCall) throws(HTTPError) -> Exchange? {
    if managed.sent != nil { return managed.arrived == nil ? exchange : nil }
    let guards = managed.attemptMiddlewares
    // Whoever reads events reads those of middlewares through a relay.
    guard managed.callMiddlewares.isEmpty, managed.delay == nil, guards.arePrompt,
      guards.isEmpty || !reportsUpload, client.stages.holds.isEmpty
    else { return nil }
    try prepare()
    if managed.number == 0 { try prepareRetries(managed) }
    let sent: AuthorizedRequest
    if let authorizer = managed.authorizer {
      guard let authorized = try authorizer.authorizeAtOnce(request, client, hop: hops.count) else {
        return nil
      }
      sent = authorized
    } else {
      sent = AuthorizedRequest(request)
    }
    managed.begins(client.stages.clock, hasWaited: false)
    let sending = sending(sent, managed)
    guard managed.enterGuards(sending.request, client.stages) else { return nil }
    let exchange = try open(sending.request)
    self.exchange = exchange
    return exchange
  }

  /// What an exchange has to say becomes a step. Nil: more than a look at the head is needed.
  func settledAtOnce(
    _ ahead: Exchange.Ahead, _ exchange: Exchange, _ managed: ManagedCall
  ) throws(HTTPError) -> Step? {
    switch ahead {
    case .early(let early): return .event(event(early, exchange, &uploadSeen))
    case .head(let delivered):
      managed.passesSee(delivered.head)
      if let authorizer = managed.authorizer, let sent = managed.sent,
        !authorizer.surelyStands(delivered.head, to: sent)
          || !authorizer.deliversAsIs(delivered.head, request, client)
      {
        managed.arrived = delivered
        return nil
      }
      return try settleStanding(.exchange(exchange, delivered), managed)
    }
  }

  private func startAnew(_ managed: ManagedCall) {
    managed.endPasses(.cancelled)
    managed.sent = nil
    managed.arrived = nil
    exchange = nil
    uploadSeen = 0
  }

  /// What the retry stage makes of an outcome: nil when it stands.
  private func retried(_ outcome: RetryRule.Outcome, _ managed: ManagedCall) -> RetryAttempt? {
    guard let (attempt, holdsHost) = managed.retried(outcome, request, client.stages) else { return nil }
    if holdsHost {
      let now = client.stages.clock.now()
      client.stages.holds.hold(origin, until: now + attempt.delay, now: now)
    }
    return attempt
  }

  private func attemptContext(_ managed: ManagedCall) -> MiddlewareContext {
    MiddlewareContext(
      client: client, attempt: managed.number, hop: hops.count, limit: managed.deadline,
      report: managed.report)
  }

  /// Runs the attempt middlewares around one exchange. It may be called by several of them at once.
  private func throughMiddlewares(
    _ request: Request, _ managed: ManagedCall
  ) async throws(HTTPError) -> Response {
    let context = attemptContext(managed)
    // Those that let it through at once were entered; the first that doesn't wraps the rest of the way.
    if managed.passes == nil { _ = managed.enterGuards(request, client.stages) }
    let passes = managed.passes
    let rest = managed.attemptMiddlewares.all[(passes?.count ?? 0)...]
    let response: Response
    if rest.isEmpty {
      response = try await exchanged(request, report: context.report, passes)
    } else {
      let exchange = MiddlewareNext { [self] request async throws(HTTPError) in
        try await exchanged(request, report: context.report)
      }
      response = try await MiddlewareChain.run(rest, request, context, last: exchange).guarded(by: passes)
    }
    managed.passesSee(response.head)
    // The body ends them from now on.
    _ = managed.takePasses()
    return response
  }

  /// One exchange up to its head.
  private func exchanged(
    _ request: Request, report: (@Sendable (TransferEvent) -> Void)?, _ passes: GuardPasses? = nil
  ) async throws(HTTPError) -> Response {
    if Task.isCancelled { throw HTTPError.cancelled.naming(method: request.method, url: request.url) }
    let exchange = try open(request)
    var seen: Int64 = report == nil ? .max : 0
    while true {
      switch try await exchange.nextAhead(uploadSeen: seen) {
      case .early(let early):
        let event = event(early, exchange, &seen)
        report?(event)
      case .head(let delivered): return try response(to: request, exchange, delivered, passes)
      }
    }
  }

  private func prepareRetries(_ managed: ManagedCall) throws(HTTPError) {
    if !request.hasNoChoices, let name = request.retry?.invalidSetting {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the setting \"retry.\(name)\" is out of range",
        method: request.method, url: request.url)
    }
    guard managed.addsIdempotencyKey, !request.method.isIdempotent,
      !request.headers.contains(IdempotencyKey.field)
    else { return }
    request.headers.append(IdempotencyKey.field, IdempotencyKey.make(client.stages.clock.random))
  }

  /// Scheme, host and port of the request.
  private var origin: String { Origin.of(request.url) }

  private func url(of answer: Answer) -> String {
    switch answer {
    case .exchange(let exchange, _): shownURL(exchange)
    case .response(let response): String(response.url.prefix { $0 != "#" })
    }
  }

  private func bodyNotReplayable(_ head: ResponseHead) -> HTTPError {
    HTTPError(
      .bodyNotReplayable, phase: .head, message: "the request must be sent again with other credentials",
      advice: "Give a body that can be read again", method: request.method, url: request.url,
      status: head.status, mayHaveBeenProcessed: true)
  }
}
