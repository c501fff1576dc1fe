/// Performs the exchanges of a batch, one call at a time: what is asked, what is made of the answer, and what it
/// tells of the host.
struct BatchPerformer<Input: Sendable, Value: Sendable>: Sendable {
  typealias Machine = BatchStateMachine<Input, Value>

  let client: Client
  let work: BatchWork<Input, Value>
  private let settings: BatchSettings<Value>
  private let robots: RobotsGate?

  init(client: Client, work: BatchWork<Input, Value>, settings: BatchSettings<Value>) {
    self.client = client
    self.work = work
    self.settings = settings
    robots = settings.options.robots.map { RobotsGate($0, client: client) }
  }

  func perform(_ job: Machine.Job, _ run: BatchRun<Input, Value>) async -> (Machine.Job, Machine.Outcome) {
    var job = job
    var facts = BatchFacts()
    do throws(HTTPError) {
      switch try await attempt(&job, &facts, run) {
      case .product(let product): return (job, .ended(.success(product), facts))
      case .refused(let error, let delay):
        return (job, .again(after: delay, instead: job.history.listing(error), facts))
      }
    } catch {
      if Self.tellsOfLoad(error.kind) { facts.verdict = .overloaded }
      let error = error.naming(method: job.request.method, url: job.request.url)
      facts.transferred = error.received
      // What can't be sent was never tried.
      if error.phase == .queue, error.code == 3 || error.code == 93 { job.history.count -= 1 }
      return (job, .ended(.failure(job.history.listing(error)), facts))
    }
  }

  private enum Attempt {
    case product(BatchProduct<Value>)
    /// It is to be made again after a wait.
    case refused(HTTPError, delay: Duration)
  }

  private func attempt(
    _ job: inout Machine.Job, _ facts: inout BatchFacts, _ run: BatchRun<Input, Value>
  ) async throws(HTTPError) -> Attempt {
    if let robots, let delay = try await robots.admit(job.request.url) {
      run.slowDown(job.ticket, to: delay)
    }
    let transform: @Sendable (Input, Response) async throws(HTTPError) -> BatchProduct<Value>
    switch work.exchange {
    case .transform(let closure): transform = closure
    case .whole(let exchange):
      job.history.count += 1
      let (product, told) = try await exchange(job.input, job.request)
      facts = told
      return .product(product)
    }
    let policy = job.request.retry ?? settings.options.retry ?? client.stages.retry
    let (conditioned, isConditional) = await conditional(job.request)
    let request = try job.history.begin(conditioned, policy, client)
    let response: Response
    do throws(HTTPError) {
      response = try await client.send(request)
    } catch {
      guard let next = job.history.ended(.failure(error), job.request, client) else { throw error }
      if Self.tellsOfLoad(error.kind) { facts.verdict = .overloaded }
      return .refused(error.naming(method: job.request.method, url: job.request.url), delay: next.delay)
    }
    judge(response, &facts)
    if let next = job.history.ended(.head(response.head), job.request, client) {
      response.exchange?.finishUnread()
      if next.holdsHost { facts.holdsHost = next.delay }
      return .refused(Self.refused(response, job.request), delay: next.delay)
    }
    if settings.limits.bytesInFlight != nil, let length = response.announcedLength, length > 0 {
      run.sized(job.ticket, bytes: length)
    }
    if settings.options.requiresSuccess, !response.status.isSuccess,
      !(isConditional && response.status == 304)
    {
      throw Self.refused(response, job.request)
    }
    do throws(HTTPError) {
      let product = try await transform(job.input, response)
      facts.transferred = response.finalFacts?.received ?? product.bytes
      if response.status == 200 { await remember(response, job.request) }
      return .product(product)
    } catch {
      // Nothing of a body that broke off was handed to anybody.
      guard settings.mayRepeatTransform, Self.isBreak(error.kind),
        let next = job.history.ended(.failure(error), job.request, client)
      else { throw error }
      return .refused(error.naming(method: job.request.method, url: job.request.url), delay: next.delay)
    }
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
    facts.holdsHost = min(settings.limits.longestHold, .seconds(min(wait, 1_000_000_000)))
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

  private func conditional(_ request: Request) async -> (Request, Bool) {
    guard let validators = settings.options.validators, request.method == .get,
      let known = await validators.validators(for: request.url)
    else { return (request, false) }
    var request = request
    known.apply(to: &request)
    return (request, true)
  }

  private func remember(_ response: Response, _ request: Request) async {
    guard let store = settings.options.validators, request.method == .get,
      let validators = Validators(response.headers)
    else { return }
    await store.store(validators, for: request.url)
  }
}
