import StreamCore

/// The auth stage of a call: the credentials and proofs that are for its origin are put on every attempt, and asked
/// about every answer. What a request chooses for itself is in here too; what its client has is looked up by origin.
struct AuthorizationStage: AttemptAuthorizer {
  enum Choice: Sendable {
    /// Those of the client that are for the origin.
    case client
    /// This one in their place. It goes with the request to the first origin and not to another.
    case own(any Credential)
    case none
  }

  enum SessionMark: Sendable {
    case none
    /// The answer's session is for the client's own that fits the origin.
    case client
    case into(SessionAuthenticator)
  }

  var choice = Choice.client
  var mark = SessionMark.none
  var provesRequests = true
  var refreshes = true
  /// How often each credential and proof, by its place, has asked to send the call again.
  private var resends: [Int: Int] = [:]

  /// More than a call can need: a refresh, two digest challenges, a proof's nonce.
  private static let resendLimit = 6

  /// What the stage remembers of an attempt.
  private struct Memo: Sendable {
    var stage: AuthorizationStage
    var parts: [Entry] = []

    func keeping(_ isWanted: (any Credential) -> Bool) -> Memo {
      Memo(stage: stage, parts: parts.filter { isWanted($0.part.credential) })
    }
  }

  /// A credential that was put on an attempt.
  private struct Entry: Sendable {
    let part: ClientCredentials.Part
    let place: Int
    var context: CredentialContext
  }

  /// The stage of a client; nil when it has neither credentials nor proofs.
  static func of(_ configuration: ClientConfiguration) -> AuthorizationStage? {
    configuration.credentials.isEmpty && configuration.proofs.isEmpty ? nil : AuthorizationStage()
  }

  /// The credentials and proofs for an origin, in order, and the places by which they are known: proofs keep theirs
  /// whatever credentials there are.
  private func forEachPart(
    _ known: ClientCredentials, _ origin: HTTPOrigin,
    _ body: (ClientCredentials.Part, Int) throws(HTTPError) -> Void
  ) throws(HTTPError) {
    switch choice {
    case .none: break
    case .own(let credential): try body(ClientCredentials.Part(credential, []), 0)
    case .client:
      try known.checkCredentials()
      var place = 0
      for part in known.credentials where part.matches(origin) {
        try body(part, place)
        place += 1
      }
    }
    guard provesRequests, !known.proofs.isEmpty else { return }
    try known.checkProofs()
    var place = 1000
    for part in known.proofs where part.matches(origin) {
      try body(part, place)
      place += 1
    }
  }

  private func context(
    _ place: Int, _ origin: HTTPOrigin, _ client: Client, _ hop: Int
  ) -> CredentialContext {
    CredentialContext(
      client: client, origin: origin, hop: hop,
      resends: resends.isEmpty ? 0 : resends[place] ?? 0, refreshes: refreshes)
  }

  func authorize(
    _ request: Request, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizedRequest {
    // A redirect or a resend may have changed what the request says for itself.
    let stage = Self.now(of: request, else: self)
    return try await attempt.withinDeadline { () async throws(HTTPError) in
      try await stage.put(on: request, attempt)
    }
  }

  private var isMarked: Bool { if case .none = mark { false } else { true } }

  private static func now(of request: Request, else stage: AuthorizationStage) -> AuthorizationStage {
    request.hasNoChoices ? stage : request.choices.value.authorizer as? AuthorizationStage ?? stage
  }

  func authorizeAtOnce(
    _ request: Request, _ client: Client, hop: Int
  ) throws(HTTPError) -> AuthorizedRequest? {
    do throws(HTTPError) {
      if request.hasNoChoices { return try putAtOnce(on: request, client, hop) }
      return try Self.now(of: request, else: self).putAtOnce(on: request, client, hop)
    } catch {
      throw error.naming(method: request.method, url: request.url)
    }
  }

  /// Nil when one of them can't without a wait; then none has been touched.
  private func putAtOnce(
    on request: Request, _ client: Client, _ hop: Int
  ) throws(HTTPError) -> AuthorizedRequest? {
    let origin = try HTTPOrigin(of: request.url)
    var authorized = request
    var entries: [Entry] = []
    var isPrompt = true
    try forEachPart(client.stages.credentials, origin) { part, place throws(HTTPError) in
      guard isPrompt else { return }
      if let fixed = part.fixed { return try fixed.put(on: &authorized) }
      guard let prompt = part.prompt else { return isPrompt = false }
      var context = context(place, origin, client, hop)
      isPrompt = try prompt.authorizeAtOnce(&authorized, &context)
      entries.append(Entry(part: part, place: place, context: context))
    }
    guard isPrompt else { return nil }
    // Nobody has to be asked about the answer.
    if entries.isEmpty { return AuthorizedRequest(authorized) }
    return AuthorizedRequest(authorized, memo: Memo(stage: self, parts: entries))
  }

  private func put(
    on request: Request, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizedRequest {
    do throws(HTTPError) {
      let origin = try HTTPOrigin(of: request.url)
      var memo = Memo(stage: self)
      try forEachPart(attempt.client.stages.credentials, origin) { part, place throws(HTTPError) in
        memo.parts.append(
          Entry(part: part, place: place, context: context(place, origin, attempt.client, attempt.hop)))
      }
      guard !memo.parts.isEmpty else { return AuthorizedRequest(request) }
      var request = request
      for index in memo.parts.indices {
        var context = memo.parts[index].context
        try await memo.parts[index].part.credential.authorize(&request, &context)
        memo.parts[index].context = context
      }
      return AuthorizedRequest(request, memo: memo)
    } catch {
      throw error.naming(method: request.method, url: request.url)
    }
  }

  func surelyStands(_ head: ResponseHead, to sent: AuthorizedRequest) -> Bool {
    guard sent.memo != nil else { return true }
    guard let memo = sent.memo as? Memo else { return false }
    for entry in memo.parts where entry.part.fixed == nil {
      guard let prompt = entry.part.prompt, prompt.surelyStands(head) else { return false }
    }
    return true
  }

  func judge(
    _ head: ResponseHead, to sent: AuthorizedRequest, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizationVerdict {
    guard let left = sent.memo as? Memo, attempt.resends < Self.resendLimit else { return .deliver }
    // With a body that can be read once the answer stands, but for a challenge that must be answered.
    let memo = attempt.canResend ? left : left.keeping { $0 is DigestCredential }
    return try await attempt.withinDeadline { () async throws(HTTPError) in
      try await Self.verdict(on: head, to: sent.request, memo, attempt)
    }
  }

  private static func verdict(
    on head: ResponseHead, to request: Request, _ memo: Memo, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizationVerdict {
    do throws(HTTPError) {
      // All see the head: proofs remember nonces also from answers that stand.
      var asking: Int?
      for entry in memo.parts.reversed() {
        guard asking == nil else { break }
        if try await entry.part.credential.answered(head, to: request, entry.context) == .resend {
          asking = entry.place
        }
      }
      guard let asking else { return .deliver }
      var next = attempt.request
      var stage = memo.stage
      stage.resends[asking, default: 0] += 1
      next.authorization = stage
      return .resend(next)
    } catch {
      throw error.naming(method: attempt.request.method, url: attempt.request.url)
    }
  }

  // MARK: sessions from answers

  /// The response that the caller gets; where it holds a session to be saved, its body was collected for that.
  func delivered(
    _ response: Response, to sent: AuthorizedRequest, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> Response {
    let savers = try Self.now(of: attempt.request, else: self).savers(response, attempt)
    guard !savers.isEmpty, let source = response.body.claimSource() else { return response }
    let lease = SourceLease(source)
    var chunks: [BodyChunk] = []
    var count = 0
    while count <= Self.sessionLimit {
      guard let chunk = try await source.next() else {
        let bytes = chunks.flatMap { Array($0) }
        for saver in savers { try await saver.save(response.headers, bytes) }
        return response.withBody(source: PrefixedBodySource(chunks, rest: nil))
      }
      chunks.append(chunk)
      count += chunk.count
    }
    // Too long for a login's answer: it is passed on as it comes.
    return response.withBody(source: PrefixedBodySource(chunks, rest: lease))
  }

  private static let sessionLimit = 1 << 20

  func deliversAsIs(_ head: ResponseHead, _ request: Request, _ client: Client) -> Bool {
    guard head.status.isSuccess else { return true }
    let isMarked = request.hasNoChoices ? isMarked : Self.now(of: request, else: self).isMarked
    if isMarked { return false }
    for each in client.stages.credentials.sessions where each.session.saves(head, isMarked: false) {
      return false
    }
    return true
  }

  private func savers(
    _ response: Response, _ attempt: AuthorizationAttempt
  ) throws(HTTPError) -> [SessionAuthenticator] {
    if case .into(let session) = mark { return session.saves(response.head, isMarked: true) ? [session] : [] }
    let sessions = attempt.client.stages.credentials.sessions
    guard !sessions.isEmpty, response.status.isSuccess else { return [] }
    var isMarked = false
    if case .client = mark { isMarked = true }
    let origin = try HTTPOrigin(of: attempt.request.url)
    return sessions.compactMap { each in
      each.part.matches(origin) && each.session.saves(response.head, isMarked: isMarked) ? each.session : nil
    }
  }
}

extension Response {
  fileprivate func withBody(source: any BodySource) -> Response {
    Response(
      head: head, url: url, history: history, facts: facts,
      body: ResponseBody(
        source: source, contentLength: body.contentLength, isEndVerifiable: body.isEndVerifiable),
      exchange: exchange, announcedLength: announcedLength, wireCounter: wireCounter, attempts: attempts)
  }
}

/// Chunks that were read ahead, then what is still to come.
private final class PrefixedBodySource: BodySource, @unchecked Sendable {
  // Sendable: a source is used by one task at a time.
  private var chunks: ArraySlice<BodyChunk>
  private var rest: SourceLease?

  init(_ chunks: [BodyChunk], rest: SourceLease?) {
    self.chunks = chunks[...]
    self.rest = rest
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    if let chunk = chunks.popFirst() { return chunk }
    guard let rest else { return nil }
    return try await rest.source.next()
  }

  func abandon() {
    chunks = []
    rest = nil
  }
}
