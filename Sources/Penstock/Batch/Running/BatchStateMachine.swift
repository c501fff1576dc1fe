/// One batch: which input is where, what a worker does next, what the consumer gets. Pure, but for the items that it
/// hands on.
///
/// Every input that is handed in has exactly one result, whatever ends the batch.
struct BatchStateMachine {
  typealias Instant = MonotonicInstant

  enum Next {
    case perform(BatchItem)
    case read
    case rest
    /// Nothing will ever come: the worker can go.
    case end
  }

  /// What a worker brings.
  enum Outcome: Sendable {
    /// What came of it is in the item.
    case ended(BatchFacts)
    /// To be made again.
    case again(after: Duration, instead: HTTPError, BatchFacts)
  }

  enum Taken: Sendable {
    case elements([BatchItem])
    case wait
    case end(HTTPError?)
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
  /// What was read and has no result yet, by its ticket.
  private var items: [BatchItem?] = []
  private var results: BatchResults<BatchItem>
  private var joining: BatchJoining?
  private let window: Int?
  private let readyLimit: Int
  private let takeLimit: Int
  private let lookahead: Int
  private let failsFast: Bool
  private var isExhausted = false
  private var failure: HTTPError?
  private(set) var isReading = false
  /// Inputs read, and results taken.
  private(set) var readCount = 0
  private var handedOut = 0
  private var followerCount = 0

  init(_ settings: BatchSettings, begin: Instant) {
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
      guard let item = items[ticket] else { return .rest }
      if item.began == nil { item.began = now }
      return .perform(item)
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
  mutating func received(_ item: BatchItem, now: Instant) {
    isReading = false
    // What comes after the end wasn't read in time: nobody asked for it any more.
    guard phase == .running else { return }
    item.index = readCount
    readCount += 1
    guard let request = item.request else { return give(item, now: now) }
    if let key = item.key, let joining {
      switch joining.look(key) {
      case .lead: break
      case .follow(let leader):
        leader.followers.append(item)
        followerCount += 1
        return
      case .known(let other):
        item.adopt(other)
        return give(item, now: now)
      }
    }
    let host = BatchHostName.of(request.url)
    let ticket = scheduler.add(host: host, priority: request.priority, now: now)
    item.ticket = ticket
    if let key = item.key { joining?.lead(key, item) }
    if ticket == items.count { items.append(item) } else { items[ticket] = item }
  }

  /// What nothing is to be sent for has its result.
  private mutating func give(_ item: BatchItem, now: Instant) {
    results.add(item, at: item.index)
    if failsFast, item.isFailed { stop(now: now) }
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

  mutating func finished(_ item: BatchItem, _ outcome: Outcome, now: Instant) {
    let ticket = item.ticket
    switch outcome {
    case .again(let delay, let error, let facts):
      if let time = facts.holdsHost { scheduler.hold(hostOf: ticket, until: now + time, now: now) }
      if phase == .running {
        scheduler.again(ticket, facts.verdict, at: now + delay, now: now)
      } else {
        scheduler.finished(ticket, facts.verdict, transferred: 0, held: 0, now: now)
        // Nobody waits for another try: what this one came to stands.
        item.fail(error)
        settle(item, now: now)
      }
    case .ended(let facts):
      if let time = facts.holdsHost { scheduler.hold(hostOf: ticket, until: now + time, now: now) }
      scheduler.finished(
        ticket, facts.verdict, transferred: facts.transferred, held: item.bytes, now: now)
      settle(item, now: now)
      if failsFast, phase == .running, item.isFailed { stop(now: now) }
    }
  }

  /// What came of an item, and of those that joined it, are results.
  private mutating func settle(_ item: BatchItem, now: Instant) {
    // Of an abandoned batch nothing is wanted.
    guard items[item.ticket] === item else { return }
    items[item.ticket] = nil
    item.duration = item.began.map { now - $0 } ?? .zero
    item.attempts = item.history.count
    item.request = nil
    item.history = BatchAttempts()
    let followers = item.followers
    item.followers = []
    results.add(item, at: item.index)
    guard let key = item.key else { return }
    let isWorthNothing = item.failure.map { $0.kind == .cancelled || $0.kind == .shutdown } ?? false
    joining?.ended(key, isWorthNothing ? nil : item)
    for follower in followers {
      follower.adopt(item)
      results.add(follower, at: follower.index)
    }
    followerCount -= followers.count
  }

  // MARK: control

  /// The client has ended: no retry, rate or request to wait holds an input back from hearing that.
  mutating func hurry(now: Instant) { scheduler.hurry(now: now) }

  /// Waits for what runs; what was read and hasn't begun ends as cancelled.
  mutating func drain(now: Instant) {
    guard phase == .running else { return }
    phase = .draining
    for ticket in scheduler.takeWaiting() {
      guard let item = items[ticket] else { continue }
      item.fail(item.history.cancelled)
      settle(item, now: now)
    }
  }

  /// The same, and what runs is cancelled.
  mutating func stop(now: Instant) {
    drain(now: now)
    cancelsRunning = true
  }

  /// Nobody takes results any more.
  mutating func abandon() {
    phase = .abandoned
    cancelsRunning = true
    _ = scheduler.takeWaiting()
    items = items.map { _ in nil }
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

  var readyCount: Int { results.readyCount }
  var hasResults: Bool { readyCount > 0 }
}
