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
      exchange = nil
      if managed.sent != nil, let retry = retried(.failure(error), managed) {
        startAnew(managed)
        return .event(.retry(retry))
      }
      throw error.listing(managed.retry?.attempts ?? [])
    }
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
    MiddlewareContext(client: client, attempt: 1, hop: 0, deadline: managed.deadline, report: report)
  }

  /// The next thing that happens; nil when the attempt leads to another one that nobody is told of.
  private func attemptStep(_ managed: ManagedCall) async throws(HTTPError) -> Step? {
    let sent: AuthorizedRequest
    if let current = managed.sent { sent = current } else { sent = try await begun(managed) }
    if !managed.attemptMiddlewares.isEmpty {
      return try await settle(.response(try await throughMiddlewares(sent.request, managed)), sent, managed)
    }
    let exchange: Exchange
    if let current = self.exchange { exchange = current } else { exchange = try open(sent.request) }
    self.exchange = exchange
    switch try await exchange.nextAhead(uploadSeen: reportsUpload ? uploadSeen : .max) {
    case .informational(let head): return .event(.informational(head))
    case .uploaded(let count):
      uploadSeen = count
      return .event(.uploadProgress(UploadProgress(sent: count, total: exchange.uploadLength)))
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
    if managed.retry != nil {
      // Somebody else was asked to wait; this call is for the same host.
      while let hold = stages.holds.wait(origin, now: stages.clock.now()) {
        let context = MiddlewareContext(
          client: client, attempt: managed.number + 1, hop: hops.count, deadline: managed.deadline,
          report: nil)
        try await context.wait(hold, for: "the host, which asked not to be disturbed", request)
      }
    }
    managed.number += 1
    managed.retry?.attemptBegins(at: stages.clock.now())
    var sent = AuthorizedRequest(request)
    if let authorizer = managed.authorizer {
      sent = try await authorizer.authorize(
        request, managed.attempt(request, hop: hops.count, client: client))
    }
    if let deadline = managed.deadline {
      // One total limit over all hops and attempts.
      var limits = sent.request.timeouts ?? client.configuration.timeouts
      limits.total = max(.zero, deadline - stages.clock.now())
      sent.request.timeouts = limits
    }
    managed.sent = sent
    return sent
  }

  /// Auth, retry and redirects look at the answer, in this order.
  private func settle(
    _ answer: Answer, _ sent: AuthorizedRequest, _ managed: ManagedCall
  ) async throws(HTTPError) -> Step? {
    let head = answer.head
    if let authorizer = managed.authorizer {
      let attempt = managed.attempt(request, hop: hops.count, client: client)
      if case .resend(let next) = try await authorizer.judge(head, to: sent, attempt) {
        answer.discard()
        guard attempt.canResend else { throw bodyNotReplayable(head) }
        managed.resends += 1
        request = next
        startAnew(managed)
        return nil
      }
    }
    if let retry = retried(.head(head), managed) {
      answer.discard()
      startAnew(managed)
      return .event(.retry(retry))
    }
    if let hop = try redirect(head, url: url(of: answer), discard: answer.discard) {
      startAnew(managed)
      return .event(.redirect(hop))
    }
    let delivered: Response
    switch answer {
    case .exchange(let exchange, let arrived):
      delivered = try response(to: request, exchange, arrived)
    case .response(let response): delivered = response
    }
    guard let authorizer = managed.authorizer else { return .response(delivered) }
    let attempt = managed.attempt(request, hop: hops.count, client: client)
    return .response(try await authorizer.delivered(delivered, to: sent, attempt))
  }

  private func startAnew(_ managed: ManagedCall) {
    managed.sent = nil
    exchange = nil
    uploadSeen = 0
  }

  /// What the retry stage makes of an outcome: nil when it stands.
  private func retried(_ outcome: RetryRule.Outcome, _ managed: ManagedCall) -> RetryAttempt? {
    guard var retry = managed.retry else { return nil }
    let stages = client.stages
    let now = stages.clock.now()
    let action = retry.ended(
      outcome, method: request.method, canResend: request.body.isEmpty || request.body.isReplayable, now: now,
      epoch: stages.clock.secondsSinceEpoch(), random: stages.clock.random())
    guard case .retry(let delay, let holdsHost) = action, let failed = retry.attempts.last else { return nil }
    if let allowance = stages.allowance, !allowance.spend(at: now) { return nil }
    if holdsHost { stages.holds.hold(origin, until: now + delay, now: now) }
    managed.retry = retry
    managed.delay = delay
    return RetryAttempt(number: failed.number + 1, delay: delay, failed: failed)
  }

  /// Runs the attempt middlewares around one exchange. It may be called by several of them at once.
  private func throughMiddlewares(
    _ request: Request, _ managed: ManagedCall
  ) async throws(HTTPError) -> Response {
    let context = MiddlewareContext(
      client: client, attempt: managed.number, hop: hops.count, deadline: managed.deadline,
      report: managed.report)
    let exchange = MiddlewareNext { [self] request async throws(HTTPError) in
      try await exchanged(request, report: context.report)
    }
    return try await MiddlewareChain.run(managed.attemptMiddlewares[...], request, context, last: exchange)
  }

  /// One exchange up to its head.
  private func exchanged(
    _ request: Request, report: (@Sendable (TransferEvent) -> Void)?
  ) async throws(HTTPError) -> Response {
    if Task.isCancelled { throw HTTPError.cancelled.naming(method: request.method, url: request.url) }
    let exchange = try open(request)
    var seen: Int64 = report == nil ? .max : 0
    while true {
      switch try await exchange.nextAhead(uploadSeen: seen) {
      case .informational(let head): report?(.informational(head))
      case .uploaded(let count):
        seen = count
        report?(.uploadProgress(UploadProgress(sent: count, total: exchange.uploadLength)))
      case .head(let delivered): return try response(to: request, exchange, delivered)
      }
    }
  }

  private func prepareRetries(_ managed: ManagedCall) throws(HTTPError) {
    let policy = request.retry ?? client.stages.retry
    if let name = request.retry?.invalidSetting {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the setting \"retry.\(name)\" is out of range",
        method: request.method, url: request.url)
    }
    guard managed.retry != nil, let policy, policy.methods == .all, policy.addsIdempotencyKey,
      !request.method.isIdempotent, !request.headers.contains(IdempotencyKey.field)
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
