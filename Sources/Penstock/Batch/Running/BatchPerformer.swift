/// Performs the exchanges of a batch, one call at a time: what is asked, what is made of the answer, and what it
/// tells of the host.
struct BatchPerformer: Sendable {
  let client: Client
  private let exchange: BatchSteps.Exchange
  // Of the settings each for itself: a look at one copies all.
  private let retry: RetryPolicy?
  private let validators: (any BatchValidators)?
  private let requiresSuccess: Bool
  private let mayRepeatTransform: Bool
  private let reckonsBytes: Bool
  private let longestHold: Duration
  private let robots: RobotsGate?

  init(client: Client, exchange: BatchSteps.Exchange, settings: BatchSettings) {
    self.client = client
    self.exchange = exchange
    retry = settings.options.retry ?? client.stages.retry
    validators = settings.options.validators
    requiresSuccess = settings.options.requiresSuccess
    mayRepeatTransform = settings.mayRepeatTransform
    reckonsBytes = settings.limits.bytesInFlight != nil
    longestHold = settings.limits.longestHold
    robots = settings.options.robots.map { RobotsGate($0, client: client) }
  }

  /// One attempt; what comes of it is in the item.
  func perform(_ item: BatchItem, _ run: BatchRun) async -> BatchStateMachine.Outcome {
    var facts = BatchFacts()
    guard let request = item.request else { return .ended(facts) }
    do throws(HTTPError) {
      if let (error, delay) = try await attempt(item, request, &facts, run) {
        return .again(after: delay, instead: item.history.listing(error), facts)
      }
    } catch {
      if Self.tellsOfLoad(error.kind) { facts.verdict = .overloaded }
      let error = error.naming(method: request.method, url: request.url)
      facts.transferred = error.received
      // What can't be sent was never tried.
      if error.phase == .queue, error.code == 3 || error.code == 93 { item.history.count -= 1 }
      item.fail(item.history.listing(error))
    }
    return .ended(facts)
  }

  /// Nil when it is over; else why it is to be made again, and after how long.
  private func attempt(
    _ item: BatchItem, _ plain: Request, _ facts: inout BatchFacts, _ run: BatchRun
  ) async throws(HTTPError) -> (HTTPError, Duration)? {
    if let robots, let delay = try await robots.admit(plain.url) {
      run.slowDown(item.ticket, to: delay)
    }
    let transform: @Sendable (BatchItem, Response) async throws(HTTPError) -> Void
    switch exchange {
    case .transform(let closure): transform = closure
    case .whole(let exchange):
      item.history.count += 1
      facts = try await exchange(item, plain)
      return nil
    }
    let policy = plain.retry ?? retry
    var isConditional = false
    var request = plain
    if let validators {
      isConditional = await Self.makeConditional(&request, by: validators)
    }
    request = try item.history.begin(request, policy, client)
    let response: Response
    do throws(HTTPError) {
      response = try await client.send(request)
    } catch {
      guard let next = item.history.ended(.failure(error), plain, client) else { throw error }
      if Self.tellsOfLoad(error.kind) { facts.verdict = .overloaded }
      return (error.naming(method: plain.method, url: plain.url), next.delay)
    }
    judge(response, &facts)
    if let next = item.history.ended(.head(response.head), plain, client) {
      response.exchange?.finishUnread()
      if next.holdsHost { facts.holdsHost = next.delay }
      return (Self.refused(response, plain), next.delay)
    }
    if reckonsBytes, let length = response.announcedLength, length > 0 {
      run.sized(item.ticket, bytes: length)
    }
    if requiresSuccess, !response.status.isSuccess,
      !(isConditional && response.status == 304)
    {
      throw Self.refused(response, plain)
    }
    do throws(HTTPError) {
      try await transform(item, response)
    } catch {
      // Nothing of a body that broke off was handed to anybody.
      guard mayRepeatTransform, Self.isBreak(error.kind),
        let next = item.history.ended(.failure(error), plain, client)
      else { throw error }
      return (error.naming(method: plain.method, url: plain.url), next.delay)
    }
    facts.transferred = response.finalFacts?.received ?? item.bytes
    if let validators, plain.method == .get, response.status == 200,
      let found = Validators(response.headers)
    {
      await validators.store(found, for: plain.url)
    }
    return nil
  }

  private static func isBreak(_ kind: HTTPError.Kind) -> Bool {
    switch kind {
    case .truncated, .receiveFailed, .connectionLost, .idleTimeout, .http2Stream, .http2Framing: true
    default: false
    }
  }

  /// Only what came in time says that the host can bear it.
  private func judge(_ response: Response, _ facts: inout BatchFacts) {
    let code = response.status.code
    facts.verdict = code == 429 || code == 503 ? .overloaded : .answered
    guard facts.verdict == .overloaded, let value = response.headers["Retry-After"],
      let wait = RetryAfter(value)?.seconds(
        from: HTTPDate(secondsSinceEpoch: client.stages.clock.secondsSinceEpoch())), wait > 0
    else { return }
    facts.holdsHost = min(longestHold, .seconds(min(wait, 1_000_000_000)))
  }

  private static func tellsOfLoad(_ kind: HTTPError.Kind) -> Bool {
    switch kind {
    case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout: true
    default: false
    }
  }

  private static func refused(_ response: Response, _ request: Request) -> HTTPError {
    let reason = PlainText.of(response.head.reason)
    return HTTPError(
      .httpStatus, phase: .head,
      message: "the server answered \(response.status)" + (reason.isEmpty ? "" : " " + reason),
      method: request.method, url: request.url, status: response.status)
  }

  // MARK: validators

  /// Whether it is conditional now.
  private static func makeConditional(
    _ request: inout Request, by validators: any BatchValidators
  ) async -> Bool {
    guard request.method == .get, let known = await validators.validators(for: request.url) else {
      return false
    }
    known.apply(to: &request)
    return true
  }
}
