import StreamCore

/// What a `SessionAuthenticator` keeps under its lock.
struct SessionState: Sendable {
  /// How a wait for a refresh ends.
  enum Ending: Sendable {
    /// There is a new session, or none any more: look again.
    case changed
    case failed(HTTPError)
    case cancelled
  }

  enum Sleeper: Sendable {
    /// Has joined and isn't asleep yet.
    case entering
    case asleep(UnsafeContinuation<Ending, Never>)
    /// Was told before it fell asleep.
    case told(Ending)
  }

  /// What a request finds.
  struct Look: Sendable {
    var session: Session?
    var ticket: RefreshStateMachine.Ticket
    /// Whether it is time to refresh.
    var isExpiring: Bool
  }

  var machine: RefreshStateMachine
  var session: Session?
  /// What a refresh has put into the store and not yet told.
  var pending: Session?
  var isLoaded = false
  /// When the token should be refreshed, on the clock that doesn't jump.
  var refreshAt: Duration?
  var sleepers: [Int: Sleeper] = [:]
  var lastKey = 0
  /// The cause of the last failure.
  var cause: HTTPError?
  var tasks: [UInt64: Task<Void, Never>] = [:]
  var timers: [UInt64: Task<Void, Never>] = [:]
  var observers: [Int: AsyncStream<SessionChange>.Continuation] = [:]

  func look(now: Duration) -> Look {
    Look(
      session: session, ticket: machine.ticket,
      isExpiring: session?.token != nil && refreshAt.map { now >= $0 } ?? false)
  }

  /// Takes a session. Its lifetime is measured from now on the clock that doesn't jump, so that a wall clock that
  /// is set later changes nothing. A token that would be over at once is given the benefit of the doubt when it has
  /// just come from the server.
  mutating func adopt(_ session: Session?, ahead: Duration?, wall: Int64, now: Duration, isFresh: Bool) {
    self.session = session
    refreshAt = nil
    guard let ahead, let end = session?.expiresAt ?? Self.webTokenEnd(session, wall, isFresh) else { return }
    let (left, overflow) = end.subtractingReportingOverflow(wall)
    // Centuries, or a number that is none.
    guard !overflow, left < 1 << 40 else { return }
    if left <= 0 {
      if !isFresh { refreshAt = now }
      return
    }
    let life = Duration.seconds(left)
    refreshAt = now + max(life - ahead, life / 2)
  }

  /// The end that a web token tells of itself: by its own life when it has just come, else by the wall's time.
  private static func webTokenEnd(_ session: Session?, _ wall: Int64, _ isFresh: Bool) -> Int64? {
    guard let token = session?.token, let claims = JWTClaims(token) else { return nil }
    guard isFresh else { return claims.expiresAt }
    return claims.lifetime(asOf: wall).map { wall.addingReportingOverflow($0).partialValue }
  }

  /// What must be cancelled to stop a run.
  func tasks(of run: UInt64) -> [Task<Void, Never>] { [tasks[run], timers[run]].compactMap { $0 } }

  /// Ends the waits of these; the continuations are the caller's to resume, without the lock.
  mutating func wake(_ waiters: Set<Int>, _ ending: Ending) -> [UnsafeContinuation<Ending, Never>] {
    waiters.compactMap { key in
      switch sleepers[key] {
      case .asleep(let continuation):
        sleepers[key] = nil
        return continuation
      case .entering:
        sleepers[key] = .told(ending)
        return nil
      case .told, nil: return nil
      }
    }
  }
}
