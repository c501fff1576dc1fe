import StreamCore
import Synchronization

extension SessionAuthenticator {
  /// Waits until the session has changed, refreshing it where nobody does so yet.
  ///
  /// - Throws: the refresh's cause as `loginDenied`, or `cancelled`.
  func renew(_ reason: RefreshStateMachine.Reason, _ client: Client) async throws(HTTPError) {
    if Task.isCancelled { throw HTTPError.cancelled }
    try checkRefreshable(reason)
    let (key, join, generation, cause) = state.withLock { state in
      state.lastKey += 1
      let key = state.lastKey
      let join = state.machine.join(key, reason, now: clock.elapsed())
      switch join {
      case .wait, .start: state.sleepers[key] = .entering
      case .useCurrent, .refuse: break
      }
      return (key, join, state.machine.generation, state.cause)
    }
    switch join {
    case .useCurrent: return
    case .refuse(.lastFailure): throw cause ?? Self.failed(nil)
    case .refuse(.tooMany):
      throw HTTPError(
        .loginDenied, phase: .queue,
        message: "the session was refreshed too often: more than SessionOptions.refreshWindow allows",
        advice: "Look why the server refuses fresh tokens")
    case .refuse(.noSession): throw Self.noSession
    case .start(let run): start(run, generation, client)
    case .wait: break
    }
    switch await sleep(key) {
    case .changed: return
    case .failed(let error): throw error
    case .cancelled: throw HTTPError.cancelled
    }
  }

  static let noSession = HTTPError(
    .loginDenied, phase: .queue, message: "there is no session to refresh", advice: "Log in first")

  private func checkRefreshable(_ reason: RefreshStateMachine.Reason) throws(HTTPError) {
    guard let refresher = options.refresher else { throw Self.noSession }
    guard !refresher.needsNoSession else { return }
    guard let session = state.withLock({ $0.session }) else { throw Self.noSession }
    if refresher.needsRefreshToken, session.refreshToken == nil {
      throw HTTPError(
        .loginDenied, phase: .queue, message: "the session has no refresh token", advice: "Log in again")
    }
  }

  /// Whether a refusal can be helped by a refresh at all.
  var canRefresh: Bool {
    guard let refresher = options.refresher else { return false }
    if refresher.needsNoSession { return true }
    return state.withLock { state in
      guard let session = state.session else { return false }
      return !refresher.needsRefreshToken || session.refreshToken != nil
    }
  }

  private func sleep(_ key: Int) async -> SessionState.Ending {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<SessionState.Ending, Never>) in
        let told = state.withLock { state -> SessionState.Ending? in
          if case .told(let ending) = state.sleepers[key] {
            state.sleepers[key] = nil
            return ending
          }
          state.sleepers[key] = .asleep(continuation)
          return nil
        }
        if let told { continuation.resume(returning: told) }
      }
    } onCancel: {
      let (leave, tasks, sleepers) = state.withLock { state in
        let leave = state.machine.leave(key)
        var tasks: [Task<Void, Never>] = []
        if case .stop(let run) = leave { tasks = state.tasks(of: run) }
        return (leave, tasks, state.wake([key], .cancelled))
      }
      for task in tasks { task.cancel() }
      if case .linger(let run) = leave { linger(run) }
      for sleeper in sleepers { sleeper.resume(returning: .cancelled) }
    }
  }

  // MARK: the run

  /// Gives a run that nobody waits for some time to bring its token home.
  private func linger(_ run: UInt64) {
    let limit = options.abandonedRefreshLimit
    Task.detached { [weak self, clock] in
      do { try await clock.sleep(limit) } catch { return }
      let tasks = self?.state.withLock { state in state.machine.abandon(run) ? state.tasks(of: run) : [] }
      for task in tasks ?? [] { task.cancel() }
    }
  }

  private func start(_ run: UInt64, _ generation: UInt64, _ client: Client) {
    // A refresh on behalf of another refresh must not wait for that one either.
    let skipped = AuthExemption.skipped.union([ObjectIdentifier(self)])
    let task = Task.detached { [weak self] in
      guard let self else { return }
      let result = await AuthExemption.$skipped.withValue(skipped) {
        await self.fetch(run, generation, client)
      }
      self.finish(run, generation, result)
    }
    let limit = options.refreshLimit
    let timer = Task.detached { [weak self, clock] in
      do { try await clock.sleep(limit) } catch { return }
      // Before the run is cancelled: that would be told in its place.
      self?.finish(
        run, generation,
        .failure(
          HTTPError(.totalTimeout, phase: .queue, message: "the refresh took longer than \(limit)")))
      task.cancel()
    }
    let isCurrent = state.withLock { state in
      guard state.machine.runNumber == run else { return false }
      state.tasks[run] = task
      state.timers[run] = timer
      return true
    }
    if !isCurrent {
      // It has ended meanwhile, or nobody waits for it.
      task.cancel()
      timer.cancel()
    }
  }

  private enum Fetched: Sendable {
    case refreshed(Session, storeError: HTTPError?)
    /// Another process had refreshed it already.
    case found(Session)
  }

  /// One refresh: nobody else's while it lasts, in other processes neither, where the store can see to that.
  private func fetch(
    _ run: UInt64, _ generation: UInt64, _ client: Client
  ) async -> Result<Session, HTTPError> {
    guard let refresher = options.refresher else { return .failure(Self.noSession) }
    let (old, current) = state.withLock { ($0.session, $0.machine.generation) }
    guard current == generation else { return .failure(HTTPError.cancelled) }
    do throws(HTTPError) {
      let fetched = try await store.exclusively { [self] () async throws(HTTPError) -> Fetched in
        if store.isShared,
          let found = try await queue.run({ [store] () async throws(HTTPError) in try await store.load() }),
          found.token != nil, found.token != old?.token
        {
          return .found(found)
        }
        if options.abandonedRefreshLimit > .zero { state.withLock { $0.machine.sends(run) } }
        let context = RefreshContext(client: client, tokens: options.tokens, now: clock.wall())
        var renewed = try await refresher.refresh(old ?? Session(token: nil), context)
        renewed.refreshToken = renewed.refreshToken ?? old?.refreshToken
        renewed.scheme = renewed.scheme ?? old?.scheme
        renewed.proofKeyID = renewed.proofKeyID ?? old?.proofKeyID
        guard renewed.token != nil else {
          throw HTTPError(.malformedResponse, phase: .decode, message: "the refresh gave no token")
        }
        return .refreshed(renewed, storeError: await keep(renewed, generation))
      }
      switch fetched {
      case .found(let session): return .success(session)
      case .refreshed(let session, let error):
        if let error { tell(.storeFailed(error)) }
        return .success(session)
      }
    } catch {
      return .failure(error)
    }
  }

  /// Keeps a refreshed session unless it was replaced meanwhile. A store that fails doesn't fail the refresh: the
  /// old refresh token may be used up, so that the new session is all there is.
  private func keep(_ session: Session, _ generation: UInt64) async -> HTTPError? {
    do throws(HTTPError) {
      try await queue.run { [self] () async throws(HTTPError) in
        let isCurrent = state.withLock { state in
          guard state.machine.generation == generation else { return false }
          state.pending = session
          return true
        }
        if isCurrent { try await store.save(session) }
      }
      return nil
    } catch {
      return error
    }
  }

  private func finish(_ run: UInt64, _ generation: UInt64, _ result: Result<Session, HTTPError>) {
    let ending: SessionState.Ending
    let outcome: RefreshStateMachine.Outcome
    switch result {
    case .success:
      ending = .changed
      outcome = .renewed
    case .failure(let error):
      ending = .failed(Self.failed(error))
      outcome = .failed(isFinal: error.kind == .loginDenied)
    }
    typealias Effects = (
      RefreshStateMachine.End, [Task<Void, Never>?], [UnsafeContinuation<SessionState.Ending, Never>]
    )
    let (end, tasks, sleepers) = state.withLock { state -> Effects in
      let end = state.machine.end(run, of: generation, outcome, now: clock.elapsed())
      var ended: [Task<Void, Never>?] = [state.timers.removeValue(forKey: run)]
      state.tasks[run] = nil
      guard case .deliver(let waiters, let stop) = end else { return (end, ended, []) }
      if let stop { ended += [state.tasks[stop], state.timers[stop]] }
      switch result {
      case .success(var session):
        state.cause = nil
        // A key may have been registered meanwhile.
        if let pending = state.pending { session.proofKeyID = pending.proofKeyID }
        state.pending = nil
        state.adopt(
          session, ahead: options.refreshAhead, wall: clock.wall(), now: clock.elapsed(), isFresh: true)
      case .failure(let error): state.cause = Self.failed(error)
      }
      return (end, ended, state.wake(waiters, ending))
    }
    for task in tasks { task?.cancel() }
    guard case .deliver = end else { return }
    // The observers first: they hear of the new session before its requests go.
    switch result {
    case .success: tell(.refreshed)
    case .failure(let error): tell(.refreshFailed(Self.failed(error)))
    }
    for sleeper in sleepers { sleeper.resume(returning: ending) }
  }

  /// The one error that all who waited get.
  static func failed(_ cause: HTTPError?) -> HTTPError {
    let why = cause.map { ": \($0.message)" } ?? ""
    return HTTPError(
      .loginDenied, phase: .queue, message: "the session couldn't be refreshed" + why,
      advice: cause?.kind == .loginDenied ? "Log in again" : cause?.advice, url: cause?.url,
      status: cause?.status)
  }
}
