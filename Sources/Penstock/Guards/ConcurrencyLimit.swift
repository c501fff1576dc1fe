import Synchronization

/// Lets at most so many exchanges of each origin (or other key) run at once; the rest wait in order.
///
/// An exchange keeps its place until its body has been read, or dropped. The client's own limits
/// (`ClientConfiguration.Limits`) stay in force; this one is for smaller groups.
public final class ConcurrencyLimit: Middleware {
  private struct State: Sendable {
    var machines = KeyedStates<ConcurrencyStateMachine>()
    var turns: [UInt64: Turn] = [:]
    var lastID: UInt64 = 0
  }

  /// Above it, keys of which nothing runs are forgotten.
  private static let sweepCount = 256
  /// `.attempt`.
  public let scope = MiddlewareScope.attempt
  private let limit: Int
  private let longestQueue: Int
  private let longestWait: Duration?
  private let key: GuardKey
  private let observer: GuardObserver?
  private let state = Mutex(State())

  /// A limit.
  ///
  /// - Parameters:
  ///   - limit: how many run at once for each key; at least 1.
  ///   - key: what is counted together.
  ///   - longestQueue: how many may wait for each key; one more throws `HTTPError.Kind.admissionTimeout`.
  ///   - longestWait: the longest that a request waits; nil: as long as its call has time.
  ///   - observer: gets `queued` and `refused`.
  public init(
    _ limit: Int, by key: GuardKey = .origin, longestQueue: Int = .max, longestWait: Duration? = nil,
    observer: GuardObserver? = nil
  ) {
    self.limit = limit
    self.key = key
    self.longestQueue = longestQueue
    self.longestWait = longestWait
    self.observer = observer
  }

  /// How many run and wait, over all keys.
  public var counts: (running: Int, waiting: Int) {
    state.withLock { state in
      state.machines.states.reduce((0, 0)) { ($0.0 + $1.running, $0.1 + $1.waiting) }
    }
  }

  /// Waits for a place, then goes on; the place is free again when the body has ended.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    guard let key = key(request) else { return try await next(request) }
    try await enter(key, request, context)
    let response: Response
    do throws(HTTPError) {
      response = try await next(request)
    } catch {
      leave(key)
      throw error
    }
    return response.observingBodyEnd { [self] _ in leave(key) }
  }

  private func enter(
    _ key: String, _ request: Request, _ context: MiddlewareContext
  ) async throws(HTTPError) {
    let turn = Turn()
    let (id, action) = state.withLock { state in
      state.lastID += 1
      let id = state.lastID
      let action = machine(key, &state) { $0.enter(id) }
      if action == .wait { state.turns[id] = turn }
      return (id, action)
    }
    switch action {
    case .start: return
    case .refuse:
      observer?(.refused(key: key))
      throw refusal("the queue of \(longestQueue) waiting requests is full", request)
    case .wait: break
    }
    observer?(.queued(key: key))
    let longest = [longestWait, context.timeLeft].compactMap { $0 }.min()
    let end = await turn.wait(limit: longest, clock: context.clock)
    if end == .go { return }
    withdraw(id, key)
    if end == .cancelled { throw HTTPError.cancelled.naming(method: request.method, url: request.url) }
    observer?(.refused(key: key))
    throw refusal("no place among the \(limit) running requests became free in time", request)
  }

  /// Changes the machine of a key; those that are idle are forgotten when there are many.
  private func machine<Result>(
    _ key: String, _ state: inout State, _ change: (inout ConcurrencyStateMachine) -> Result
  ) -> Result {
    state.machines.change(
      key, orMake: { ConcurrencyStateMachine(limit: limit, longestQueue: longestQueue) },
      sweepCount: Self.sweepCount, isIdle: { $0.isIdle }, change)
  }

  private func refusal(_ message: String, _ request: Request) -> HTTPError {
    HTTPError(
      .admissionTimeout, phase: .queue, message: message,
      advice: "Raise the concurrency limit, or start fewer requests at once", method: request.method,
      url: request.url)
  }

  private func leave(_ key: String) {
    // A turn that ended by itself meanwhile leaves its place to the next one.
    while true {
      let turn: Turn? = state.withLock { state in
        guard let id = state.machines.change(key, { $0.leave() }) ?? nil else { return nil }
        return state.turns.removeValue(forKey: id)
      }
      guard let turn else { return }
      if turn.end(.go) { return }
    }
  }

  /// The turn has ended without a place; whoever gives one finds that out by `Turn.end`.
  private func withdraw(_ id: UInt64, _ key: String) {
    state.withLock { state in
      state.turns[id] = nil
      _ = state.machines.change(key) { $0.withdraw(id) }
    }
  }
}

extension ConcurrencyLimit: PromptGuard {
  func enter(_ attempt: GuardedAttempt) -> GuardPass? {
    guard let key = attempt.key(key) else { return GuardPass(key: nil) }
    let hasPlace = state.withLock { state in machine(key, &state) { $0.enterAtOnce() } }
    return hasPlace ? GuardPass(key: key) : nil
  }

  func ended(_ outcome: RetryRule.Outcome, _ pass: GuardPass, _ stages: PipelineStages) {
    if case .failure = outcome, let key = pass.key { leave(key) }
  }

  var lastsWithBody: Bool { true }

  func bodyEnded(_ pass: GuardPass) {
    if let key = pass.key { leave(key) }
  }
}
