public import StreamCore
import Synchronization

extension SessionAuthenticator {
  var isSkipped: Bool { AuthExemption.skipped.contains(ObjectIdentifier(self)) }

  /// Puts the token on a request; refreshes it first when it is about to end.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    if let setting = invalidSetting {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the setting SessionOptions.\(setting) is out of range"
      )
    }
    if isSkipped || request.headers.contains(options.field) { return }
    try await load()
    var look = state.withLock { $0.look(now: clock.elapsed()) }
    if look.session?.token == nil {
      guard context.refreshes, options.refresher?.needsNoSession == true else { return }
      try await renew(.missing, context.client)
      look = state.withLock { $0.look(now: clock.elapsed()) }
    } else if look.isExpiring, context.refreshes, canRefresh {
      do throws(HTTPError) {
        try await renew(.expiring(look.ticket), context.client)
      } catch {
        if error.kind == .cancelled { throw error }
        // The clock may be wrong and the token still good: the server decides.
      }
      look = state.withLock { $0.look(now: clock.elapsed()) }
    }
    try put(look, on: &request, &context)
  }

  private func put(
    _ look: SessionState.Look, on request: inout Request, _ context: inout CredentialContext
  ) throws(HTTPError) {
    guard let session = look.session, let token = session.token else { return }
    try SecretCheck.visible(token, "the session's token")
    let scheme = session.scheme ?? options.scheme
    request.headers.append(options.field, scheme.isEmpty ? token : "\(scheme) \(token)")
    context.note = look.ticket
  }

  /// After a refusal of the token: sends again once there is a newer one.
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict {
    guard options.refreshStatuses.contains(head.status.code), context.resends == 0,
      context.refreshes, let ticket = context.note as? RefreshStateMachine.Ticket
    else { return .deliver }
    // A new token wouldn't help (RFC 6750 §3.1).
    if let error = BearerError(head.headers), error.code != "invalid_token" { return .deliver }
    let isOld = state.withLock { $0.machine.hasSession && $0.machine.generation != ticket.generation }
    if isOld { return .resend }
    guard canRefresh else { return .deliver }
    try await renew(.rejected(ticket), context.client)
    return state.withLock({ $0.session?.token }) == nil ? .deliver : .resend
  }

  /// Whether an answer should be looked at for tokens.
  func saves(_ head: ResponseHead, isMarked: Bool) -> Bool {
    guard head.status.isSuccess, !isSkipped else { return false }
    if isMarked { return true }
    guard options.saving == .anySuccess else { return false }
    let type = head.headers["Content-Type"]?.lowercased() ?? ""
    return type.contains("json")
  }

  /// Saves the session that an answer holds, if it holds one.
  func save(_ headers: HTTPFields, _ body: [UInt8]) async throws(HTTPError) {
    guard let session = options.tokens.session(headers: headers, body: body, now: clock.wall()) else {
      return
    }
    try await save(session)
  }
}

extension SessionAuthenticator {
  /// Notes the key that was registered for this session; the tokens and their generation stay.
  func setProofKey(_ keyID: String?) async throws(HTTPError) {
    try await load()
    try await queue.run { [self] () async throws(HTTPError) in
      // The tokens of a refresh that is in the store already must stay in it.
      var (session, generation) = state.withLock {
        ($0.pending ?? $0.session ?? Session(token: nil), $0.machine.generation)
      }
      session.proofKeyID = keyID
      try await store.save(session)
      state.withLock { state in
        state.pending?.proofKeyID = keyID
        if state.session == nil {
          // A logout meanwhile takes the key with it, and clears the store next.
          guard state.machine.generation == generation else { return }
          state.session = Session(token: nil)
        }
        state.session?.proofKeyID = keyID
      }
    }
  }
}

extension SessionAuthenticator: PromptCredential {
  /// Puts a token that is here and isn't about to end on a request.
  func authorizeAtOnce(
    _ request: inout Request, _ context: inout CredentialContext
  ) throws(HTTPError) -> Bool {
    guard invalidSetting == nil else { return false }
    if request.headers.contains(options.field) || isSkipped { return true }
    let look = state.withLock { state in state.isLoaded ? state.look(now: clock.elapsed()) : nil }
    guard let look, look.session?.token != nil, !look.isExpiring else { return false }
    try put(look, on: &request, &context)
    return true
  }

  func surelyStands(_ head: ResponseHead) -> Bool { !options.refreshStatuses.contains(head.status.code) }
}
