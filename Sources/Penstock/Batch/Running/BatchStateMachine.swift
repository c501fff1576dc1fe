/// One batch: which input is where, what a worker does next, what the consumer gets. Pure, but for the values
/// that it carries.
///
/// Every input that is handed in has exactly one result, whatever ends the batch.
struct BatchStateMachine<Input: Sendable, Value: Sendable> {
  typealias Element = BatchResult<Input, Value>
  typealias Instant = ContinuousClock.Instant

  /// One exchange to be made.
  struct Job: Sendable {
    let ticket: Int
    let input: Input
    let request: Request
    /// What earlier attempts left to know.
    var history: BatchAttempts
  }

  enum Next {
    case perform(Job)
    case read
    case rest
    /// Nothing will ever come: the worker can go.
    case end
  }

  /// What a worker brings.
  enum Outcome: Sendable {
    case ended(Result<BatchProduct<Value>, HTTPError>, BatchFacts)
    /// To be made again.
    case again(after: Duration, instead: HTTPError, BatchFacts)
  }

  enum Taken: Sendable {
    case elements([Element])
    case wait
    case end(HTTPError?)
  }

  private struct Slot {
    var index: Int
    var input: Input
    var request: Request
    var history = BatchAttempts()
    var key: String?
    var began: Instant?
    /// Inputs that joined.
    var followers: [(index: Int, input: Input)] = []
  }

  private enum Phase {
    case running
    /// What runs is waited for, nothing else is begun.
    case draining
    /// Nobody wants anything any more.
    case abandoned
  }

  private var phase = Phase.running
  private var scheduler: BatchScheduler
  private var slots: [Slot?] = []
  private var results: BatchResults<Element>
  private var joining: BatchJoining<Value>?
  private let window: Int?
  private let readyLimit: Int
  private let takeLimit: Int
  private let lookahead: Int
  private let failsFast: Bool
  private let isFailure: (@Sendable (Value) -> Bool)?
  private var isExhausted = false
  private var failure: HTTPError?
  private(set) var isReading = false
  /// Inputs read, and results taken.
  private(set) var readCount = 0
  private var handedOut = 0
  private var followerCount = 0

  init(_ settings: BatchSettings<Value>, begin: Instant) {
    let limits = settings.limits
    failsFast = settings.options.failsFast
    lookahead = failsFast ? min(limits.total, limits.lookahead) : limits.lookahead
    scheduler = BatchScheduler(limits, lookahead: lookahead, begin: begin)
    if case .input(let window) = settings.order {
      self.window = window > 0 ? window : 4 * limits.total
    } else {
      window = nil
    }
    results = BatchResults(keepsInputOrder: window != nil)
    readyLimit = limits.total
    takeLimit = max(1, min(32, limits.total / 4))
    if settings.options.joinsIdentical { joining = BatchJoining(settings.options.joinMemory) }
    isFailure = settings.isFailure
  }

  var running: Int { scheduler.running }
  var queued: Int { scheduler.waiting + followerCount }
  var isOver: Bool { phase == .abandoned || isDone && results.isEmpty }
  /// Whether there is nothing left for workers.
  var hasEnded: Bool { phase == .abandoned || isDone }
  /// Whether running exchanges are to be cancelled.
  private(set) var cancelsRunning = false

  /// All is done, but for what the consumer has to take.
  private var isDone: Bool {
    (isExhausted || phase != .running) && scheduler.running == 0 && scheduler.waiting == 0
      && followerCount == 0
  }

  /// The first result is asked for.
  mutating func begins(at now: Instant) { scheduler.begins(at: now) }

  // MARK: workers

  mutating func next(now: Instant) -> Next {
    updateGates()
    switch scheduler.next(now: now) {
    case .start(let ticket):
      guard let slot = slots[ticket] else { return .rest }
      if slots[ticket]?.began == nil { slots[ticket]?.began = now }
      return .perform(Job(ticket: ticket, input: slot.input, request: slot.request, history: slot.history))
    case .read:
      isReading = true
      return .read
    case .wait: return isDone || phase == .abandoned ? .end : .rest
    }
  }

  /// Whether another worker would find something to do.
  mutating func hasMore(now: Instant) -> Bool {
    updateGates()
    return scheduler.hasMore(now: now)
  }

  mutating func nextDeadline(now: Instant) -> Instant? {
    phase == .running ? scheduler.nextDeadline(now: now) : nil
  }

  private mutating func updateGates() {
    scheduler.mayRead =
      phase == .running && !isExhausted && !isReading && followerCount < lookahead
      && (window.map { readCount - handedOut < $0 } ?? true)
    // In input order the window alone is the bound: else a slow input could stop itself.
    scheduler.isHeldByConsumer = window == nil && results.count >= readyLimit
  }

  // MARK: inputs

  /// An input was read, and its request is known or can't be made.
  mutating func received(
    _ input: Input, _ request: Result<Request, HTTPError>, key: String?, now: Instant
  ) {
    isReading = false
    // What comes after the end wasn't read in time: nobody asked for it any more.
    guard phase == .running else { return }
    let index = readCount
    readCount += 1
    switch request {
    case .failure(let error): fail(index, input, error)
    case .success(let request):
      if let key, let joining {
        switch joining.look(key) {
        case .lead: break
        case .follow(let ticket):
          slots[ticket]?.followers.append((index, input))
          followerCount += 1
          return
        case .known(let outcome):
          results.add(
            BatchResult(
              index: index, input: input, result: outcome.result, attempts: outcome.attempts,
              duration: outcome.duration, isJoined: true, bytes: 0), at: index)
          if failsFast, Self.isFailed(outcome.result, isFailure) { stop(now: now) }
          return
        }
      }
      let host = BatchHostName.of(request.url)
      let ticket = scheduler.add(host: host, priority: request.priority, now: now)
      var slot = Slot(index: index, input: input, request: request)
      if let key, joining != nil {
        slot.key = key
        joining?.lead(key, ticket)
      }
      if ticket == slots.count { slots.append(slot) } else { slots[ticket] = slot }
    }
  }

  /// There are no more inputs, or reading failed.
  mutating func sourceEnded(_ error: HTTPError?) {
    isReading = false
    guard phase == .running else { return }
    isExhausted = true
    failure = failure ?? error
  }

  // MARK: ends

  mutating func sized(_ ticket: Int, bytes: Int64) { scheduler.sized(ticket, bytes: bytes) }

  mutating func slowDown(_ ticket: Int, to delay: Duration, now: Instant) {
    scheduler.slow(hostOf: ticket, to: delay, now: now)
  }

  mutating func finished(_ job: Job, _ outcome: Outcome, now: Instant) {
    switch outcome {
    case .again(let delay, let error, let facts):
      if let time = facts.holdsHost { scheduler.hold(hostOf: job.ticket, until: now + time, now: now) }
      if phase == .running {
        slots[job.ticket]?.history = job.history
        scheduler.again(job.ticket, facts.verdict, at: now + delay, now: now)
      } else {
        scheduler.finished(job.ticket, facts.verdict, transferred: 0, held: 0, now: now)
        // Nobody waits for another try: what this one came to stands.
        settle(job.ticket, .failure(error), job.history.count, now: now)
      }
    case .ended(let ending, let facts):
      if let time = facts.holdsHost { scheduler.hold(hostOf: job.ticket, until: now + time, now: now) }
      let result = ending.map(\.value)
      var held: Int64 = 0
      if case .success(let product) = ending { held = product.bytes }
      scheduler.finished(
        job.ticket, facts.verdict, transferred: facts.transferred, held: held, now: now)
      settle(job.ticket, result, job.history.count, bytes: held, now: now)
      if failsFast, phase == .running, Self.isFailed(result, isFailure) { stop() }
    }
  }

  private static func isFailed(_ result: Result<Value, HTTPError>, _ isFailure: ((Value) -> Bool)?) -> Bool {
    switch result {
    case .failure: true
    case .success(let value): isFailure?(value) ?? false
    }
  }

  private mutating func fail(_ index: Int, _ input: Input, _ error: HTTPError) {
    results.add(
      BatchResult(
        index: index, input: input, result: .failure(error), attempts: 0, duration: .zero, isJoined: false,
        bytes: 0), at: index)
    if failsFast, phase == .running { stop() }
  }

  /// Gives the input of a ticket, and those that joined, their results.
  private mutating func settle(
    _ ticket: Int, _ result: Result<Value, HTTPError>, _ attempts: Int, bytes: Int64 = 0, now: Instant
  ) {
    guard let slot = slots[ticket] else { return }
    slots[ticket] = nil
    let duration = slot.began.map { now - $0 } ?? .zero
    results.add(
      BatchResult(
        index: slot.index, input: slot.input, result: result, attempts: attempts, duration: duration,
        isJoined: false, bytes: bytes), at: slot.index)
    guard let key = slot.key else { return }
    if case .failure(let error) = result, error.kind == .cancelled || error.kind == .shutdown {
      joining?.ended(key, nil)
    } else {
      joining?.ended(key, .init(result: result, attempts: attempts, duration: duration, bytes: bytes))
    }
    for follower in slot.followers {
      results.add(
        BatchResult(
          index: follower.index, input: follower.input, result: result, attempts: attempts,
          duration: duration,
          isJoined: true, bytes: 0), at: follower.index)
    }
    followerCount -= slot.followers.count
  }

  // MARK: control

  /// The client has ended: no retry, rate or request to wait holds an input back from hearing that.
  mutating func hurry(now: Instant) { scheduler.hurry(now: now) }

  /// Waits for what runs; what was read and hasn't begun ends as cancelled.
  mutating func drain(now: Instant) {
    guard phase == .running else { return }
    phase = .draining
    for ticket in scheduler.takeWaiting() {
      let history = slots[ticket]?.history ?? BatchAttempts()
      settle(ticket, .failure(history.cancelled), history.count, now: now)
    }
  }

  /// The same, and what runs is cancelled.
  private mutating func stop() {
    drain(now: .now)
    cancelsRunning = true
  }

  mutating func stop(now: Instant) {
    drain(now: now)
    cancelsRunning = true
  }

  /// Nobody takes results any more.
  mutating func abandon() {
    phase = .abandoned
    cancelsRunning = true
    _ = scheduler.takeWaiting()
    slots = slots.map { _ in nil }
    results.removeAll()
  }

  /// The next results for the consumer.
  mutating func take() -> Taken {
    if phase == .abandoned { return .end(nil) }
    let taken = results.take(upTo: takeLimit)
    if taken.isEmpty {
      guard isDone else { return .wait }
      defer { failure = nil }
      return .end(failure)
    }
    handedOut += taken.count
    var bytes: Int64 = 0
    for element in taken { bytes += element.bytes }
    if bytes > 0 { scheduler.taken(bytes: bytes) }
    return .elements(taken)
  }

  var hasResults: Bool { results.readyCount > 0 }
}
