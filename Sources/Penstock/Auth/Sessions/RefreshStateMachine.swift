/// Who refreshes a token when, and who waits for it. Pure: storage and effects are the authenticator's.
///
/// Every session has a generation; every request remembers which one it was sent with. At most one run is under way.
/// A run ends by its outcome, by a new session from elsewhere, or since nobody waits for it any more: at once while
/// nothing was sent, after a while otherwise.
struct RefreshStateMachine: Sendable {
  /// What a request remembers of the moment when it took the token.
  struct Ticket: Sendable, Hashable {
    /// Of the session.
    var generation: UInt64
    /// How many runs had ended by then.
    var endedRuns: UInt64
  }

  enum Reason: Sendable, Hashable {
    /// The server refused the token that was taken with this ticket.
    case rejected(Ticket)
    /// The token with this ticket is about to end.
    case expiring(Ticket)
    /// There is no session, and a refresher that needs none.
    case missing
    /// Somebody asked for it.
    case asked
  }

  enum Join: Sendable, Hashable {
    /// The session is newer than what the reason speaks of: use it.
    case useCurrent
    /// A run is under way, and this waiter is told of its end.
    case wait
    /// The same, and the caller must start the run.
    case start(run: UInt64)
    /// No run is started.
    case refuse(Refusal)
  }

  enum Refusal: Sendable, Hashable {
    /// The last run failed, and that holds for this reason too.
    case lastFailure
    /// So many runs are allowed in the interval.
    case tooMany
    /// There is no session to refresh.
    case noSession
  }

  enum Leave: Sendable, Hashable {
    case goOn
    /// Nobody waits any more, and nothing was sent.
    case stop(run: UInt64)
    /// Nobody waits any more, but the refresh token may be used up by now: the run has some time left to bring the
    /// new one, then `abandon` is due.
    case linger(run: UInt64)
  }

  enum Outcome: Sendable, Hashable {
    case renewed
    /// `isFinal`: the server has refused, so that trying again with the same session is pointless.
    case failed(isFinal: Bool)
  }

  enum End: Sendable, Hashable {
    /// The outcome counts; these are told. `stop`: another run that has become needless.
    case deliver(to: Set<Int>, stop: UInt64?)
    /// It comes too late.
    case ignore
  }

  /// What happens when the session is set from outside.
  struct Replacement: Sendable, Hashable {
    /// These are told that the session has changed.
    var waiters: Set<Int>
    /// This run must stop.
    var stop: UInt64?
  }

  /// So many runs in an interval; nil: any number.
  struct Window: Sendable, Hashable {
    var count: Int
    var interval: Duration
  }

  private struct Run: Sendable {
    var number: UInt64
    var generation: UInt64
    var waiters: Set<Int>
    /// Whether its request may have been sent.
    var hasSent = false
  }

  private struct Failure: Sendable {
    var isFinal: Bool
    /// Number of runs that had ended, this one included.
    var endedRuns: UInt64
    var until: Duration
  }

  let window: Window?
  /// How long a failure that isn't final holds for everybody.
  let holdOff: Duration

  private(set) var generation: UInt64 = 0
  private(set) var hasSession: Bool
  private var endedRuns: UInt64 = 0
  private var startedRuns: UInt64 = 0
  private var run: Run?
  /// Of the present generation.
  private var failure: Failure?
  /// When the runs of the last interval started.
  private var starts: [Duration] = []

  init(hasSession: Bool, window: Window?, holdOff: Duration) {
    self.hasSession = hasSession
    self.window = window
    self.holdOff = holdOff
  }

  var isRunning: Bool { run != nil }
  var runNumber: UInt64? { run?.number }
  /// Who waits, for tests.
  var waiters: Set<Int> { run?.waiters ?? [] }

  /// What a request remembers that takes the token now.
  var ticket: Ticket { Ticket(generation: generation, endedRuns: endedRuns) }

  /// Somebody needs another token.
  mutating func join(_ waiter: Int, _ reason: Reason, now: Duration) -> Join {
    switch reason {
    case .rejected(let ticket), .expiring(let ticket):
      guard hasSession else { return .refuse(.noSession) }
      if ticket.generation != generation { return .useCurrent }
    case .missing: if hasSession { return .useCurrent }
    case .asked: break
    }
    if run != nil {
      run?.waiters.insert(waiter)
      return .wait
    }
    if let failure, holds(failure, for: reason, now) { return .refuse(.lastFailure) }
    if let window {
      starts.removeAll { $0 <= now - window.interval }
      if starts.count >= window.count { return .refuse(.tooMany) }
      starts.append(now)
    }
    startedRuns += 1
    run = Run(number: startedRuns, generation: generation, waiters: [waiter])
    return .start(run: startedRuns)
  }

  private func holds(_ failure: Failure, for reason: Reason, _ now: Duration) -> Bool {
    switch reason {
    case .asked: false
    // It was on its way when the run failed: it is told the same.
    case .rejected(let ticket) where ticket.endedRuns < failure.endedRuns: true
    case .rejected, .expiring, .missing: failure.isFinal || now < failure.until
    }
  }

  /// A waiter doesn't want to know any more.
  mutating func leave(_ waiter: Int) -> Leave {
    guard run?.waiters.remove(waiter) != nil, let left = run, left.waiters.isEmpty else { return .goOn }
    if left.hasSent { return .linger(run: left.number) }
    run = nil
    return .stop(run: left.number)
  }

  /// The request of a run is about to be sent.
  mutating func sends(_ number: UInt64) {
    if run?.number == number { run?.hasSent = true }
  }

  /// A run that was left has used up its time; false when it has ended, or somebody waits for it again.
  mutating func abandon(_ number: UInt64) -> Bool {
    guard let left = run, left.number == number, left.waiters.isEmpty else { return false }
    run = nil
    return true
  }

  /// A run has ended by itself.
  mutating func end(_ number: UInt64, of generation: UInt64, _ outcome: Outcome, now: Duration) -> End {
    switch outcome {
    case .renewed:
      // A new token is a new token, whoever still waited for it: the old refresh token may be used up.
      guard generation == self.generation else { return .ignore }
      let ended = run
      run = nil
      endedRuns += 1
      failure = nil
      self.generation += 1
      hasSession = true
      return .deliver(
        to: ended?.waiters ?? [], stop: ended.flatMap { $0.number == number ? nil : $0.number })
    case .failed(let isFinal):
      guard let ended = run, ended.number == number else { return .ignore }
      run = nil
      endedRuns += 1
      failure = Failure(isFinal: isFinal, endedRuns: endedRuns, until: now + holdOff)
      return .deliver(to: ended.waiters, stop: nil)
    }
  }

  /// A login, a logout, or a session that was found in the store.
  mutating func replace(hasSession: Bool) -> Replacement {
    let ended = run
    run = nil
    if ended != nil { endedRuns += 1 }
    failure = nil
    generation += 1
    self.hasSession = hasSession
    return Replacement(waiters: ended?.waiters ?? [], stop: ended?.number)
  }
}
