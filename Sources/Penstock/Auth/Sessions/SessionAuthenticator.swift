public import StreamCore
import Synchronization

/// A login session as a credential: puts its token on requests, saves what logins answer, refreshes once for all
/// who need it, and forgets it all at `logout`.
///
/// ```swift
/// var options = SessionOptions()
/// options.tokens = .accessTokens
/// options.refresher = .endpoint("https://api.example.com/auth/refresh")
/// let auth = SessionAuthenticator(store: FileSessionStore(path: "/var/lib/job/session"), options: options)
/// configuration.credentials = [ScopedCredential(auth, for: "https://api.example.com")]
/// let client = Client(configuration: configuration)
/// let login = Request.post("https://api.example.com/login", body: .string(json)).noAuth().savesSession()
/// _ = try await client.send(login)
/// ```
///
/// **Refresh.** Any number of requests that meet an expired token wait for one refresh and are then sent once more,
/// where their bodies can be. A late refusal of an older token only sends again. When the refresh fails, all of
/// them throw one `HTTPError.Kind.loginDenied` at once, and the session stays as it was. A cancelled
/// waiter leaves alone; the refresh stops when nobody waits any more, after `abandonedRefreshLimit` where its request
/// may have been sent.
public final class SessionAuthenticator: Credential {
  let options: SessionOptions
  let invalidSetting: String?
  let store: any SessionStore
  let clock: AuthClock
  let state: Mutex<SessionState>
  let queue = StoreQueue()

  /// A session that is kept in this store; nothing is read before it is needed.
  public convenience init(
    store: any SessionStore = NoSessionStore(), options: SessionOptions = SessionOptions()
  ) {
    self.init(store: store, options: options, clock: .system)
  }

  package init(store: any SessionStore, options: SessionOptions, clock: AuthClock) {
    self.store = store
    self.options = options
    invalidSetting = options.invalidSetting
    self.clock = clock
    let window = options.refreshWindow.map {
      RefreshStateMachine.Window(count: max(1, $0.count), interval: $0.interval)
    }
    state = Mutex(
      SessionState(
        machine: RefreshStateMachine(hasSession: false, window: window, holdOff: options.failureHold)))
    if options.field.lowercased() != "authorization" { Redaction.markField(options.field) }
    for case .header(let name) in [options.tokens.token, options.tokens.refreshToken] {
      Redaction.markField(name)
    }
  }

  deinit {
    let left = state.withLock { state in
      (Array(state.tasks.values) + Array(state.timers.values), Array(state.observers.values))
    }
    for task in left.0 { task.cancel() }
    for observer in left.1 { observer.finish() }
  }

  // MARK: what is there

  /// The session, read from the store the first time. Throws what the store throws: then the session is unknown,
  /// not gone.
  public func session() async throws(HTTPError) -> Session? {
    try await load()
    return state.withLock { $0.session }
  }

  /// Whether there is a token.
  public func hasSession() async throws(HTTPError) -> Bool { try await session()?.token != nil }

  /// Whether there is a refresh token.
  public func hasRefreshToken() async throws(HTTPError) -> Bool { try await session()?.refreshToken != nil }

  /// What happens to the session from now on, the newest 64 of what isn't read yet.
  public var changes: AsyncStream<SessionChange> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SessionChange.self, bufferingPolicy: .bufferingNewest(64))
    let key = state.withLock { state in
      state.lastKey += 1
      state.observers[state.lastKey] = continuation
      return state.lastKey
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.observers.removeValue(forKey: key) }
    }
    return stream
  }

  func tell(_ change: SessionChange) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer.yield(change) }
  }

  func load() async throws(HTTPError) {
    if state.withLock({ $0.isLoaded }) { return }
    // Who is cancelled doesn't wait for a store that hangs.
    try await queue.run(leavingWhenCancelled: true) { [self] () throws(HTTPError) in
      if state.withLock({ $0.isLoaded }) { return }
      let session = try await store.load()
      state.withLock { state in
        // A logout came in between: what was read is over.
        if state.isLoaded { return }
        state.isLoaded = true
        guard let session else { return }
        _ = state.machine.replace(hasSession: session.token != nil)
        state.adopt(
          session, ahead: options.refreshAhead, wall: clock.wall(), now: clock.elapsed(), isFresh: false)
      }
    }
  }

  // MARK: changing it

  /// Sets the session, such as after a login by other means, and keeps it. A refresh that is under way stops.
  /// Throws what the store throws; then the session is as it was.
  public func save(_ session: Session) async throws(HTTPError) {
    try await queue.run { [self] () throws(HTTPError) in
      try await store.save(session)
      replace(session)
    }
    tell(.saved)
  }

  /// Forgets the session here and in the store; a refresh that is under way stops, and those who wait for it
  /// throw `HTTPError.Kind.loginDenied`. Throws what the store throws; the session is gone here all the same.
  public func logout() async throws(HTTPError) {
    let generation = replace(nil)
    tell(.loggedOut)
    try await queue.run { [self] () throws(HTTPError) in
      // A login that came in between isn't ours to remove.
      if state.withLock({ $0.machine.generation }) == generation { try await store.clear() }
    }
  }

  /// Returns the generation of the session that it puts in place.
  @discardableResult
  private func replace(_ session: Session?) -> UInt64 {
    let ending: SessionState.Ending = session == nil ? .failed(Self.loggedOut) : .changed
    let (tasks, sleepers, generation) = state.withLock { state in
      state.isLoaded = true
      state.pending = nil
      let replacement = state.machine.replace(hasSession: session?.token != nil)
      state.adopt(
        session, ahead: options.refreshAhead, wall: clock.wall(), now: clock.elapsed(), isFresh: true)
      let tasks = replacement.stop.map { state.tasks(of: $0) } ?? []
      return (tasks, state.wake(replacement.waiters, ending), state.machine.generation)
    }
    for task in tasks { task.cancel() }
    for sleeper in sleepers { sleeper.resume(returning: ending) }
    return generation
  }

  static let loggedOut = HTTPError(
    .loginDenied, phase: .queue, message: "the session was ended while the request waited for its refresh",
    advice: "Log in again")

  /// Gets a new token now, or waits for the refresh that is under way.
  ///
  /// - Parameter client: what the refresher sends with.
  /// - Throws: `HTTPError.Kind.invalidConfiguration` without a refresher, `loginDenied` without a session or
  ///   refresh token and when the refresh fails, `cancelled`.
  public func refresh(using client: Client) async throws(HTTPError) {
    guard options.refresher != nil else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the session has no refresher",
        advice: "Set SessionOptions.refresher")
    }
    try await load()
    try await renew(.asked, client)
  }

  /// The type alone.
  public var description: String { "SessionAuthenticator" }
}

extension SessionAuthenticator: CustomStringConvertible, CustomReflectable {
  /// Nothing of the session.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Credential where Self == SessionAuthenticator {
  /// A login session.
  public static func session(_ authenticator: SessionAuthenticator) -> SessionAuthenticator { authenticator }
}
