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
    var parts: [(part: any Credential, place: Int, context: CredentialContext)]

    func keeping(_ isWanted: (any Credential) -> Bool) -> Memo {
      Memo(stage: stage, parts: parts.filter { isWanted($0.part) })
    }
  }

  /// The stage of a client; nil when it has neither credentials nor proofs.
  static func of(_ configuration: ClientConfiguration) -> AuthorizationStage? {
    configuration.credentials.isEmpty && configuration.proofs.isEmpty ? nil : AuthorizationStage()
  }

  /// The credentials for an origin, in order.
  private func credentials(
    _ configuration: ClientConfiguration, _ origin: HTTPOrigin
  ) throws(HTTPError) -> [any Credential] {
    switch choice {
    case .none: return []
    case .own(let credential): return [credential]
    case .client:
      try Self.check(configuration.credentials.flatMap(\.origins), "credentials", origin)
      return configuration.credentials.filter { $0.matches(origin) }.map(\.credential)
    }
  }

  private func proofs(
    _ configuration: ClientConfiguration, _ origin: HTTPOrigin
  ) throws(HTTPError) -> [any Credential] {
    guard provesRequests else { return [] }
    try Self.check(configuration.proofs.flatMap(\.origins), "proofs", origin)
    return configuration.proofs.filter { $0.matches(origin) }
  }

  private static func check(
    _ patterns: [OriginPattern], _ setting: String, _ origin: HTTPOrigin
  ) throws(HTTPError) {
    guard let bad = patterns.first(where: \.isInvalid) else { return }
    throw HTTPError(
      .invalidConfiguration, phase: .queue,
      message: "the client's setting \"\(setting)\" has the origin \"\(bad)\", which can't be read",
      advice: "Write https://host, https://host:port or https://*.domain")
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

  private static func now(of request: Request, else stage: AuthorizationStage) -> AuthorizationStage {
    request.choices.value.authorizer as? AuthorizationStage ?? stage
  }

  private func put(
    on request: Request, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizedRequest {
    do throws(HTTPError) {
      let origin = try HTTPOrigin(of: request.url)
      let configuration = attempt.client.configuration
      let first = try credentials(configuration, origin)
      let all = first + (try proofs(configuration, origin))
      guard !all.isEmpty else { return AuthorizedRequest(request) }
      var memo = Memo(stage: self, parts: [])
      var request = request
      for (index, part) in all.enumerated() {
        // Proofs keep their place whatever credentials there are.
        let place = index < first.count ? index : 1000 + index - first.count
        var context = CredentialContext(
          client: attempt.client, origin: origin, hop: attempt.hop, resends: resends[place] ?? 0,
          refreshes: refreshes)
        try await part.authorize(&request, &context)
        memo.parts.append((part, place, context))
      }
      return AuthorizedRequest(request, memo: memo)
    } catch {
      throw error.naming(method: request.method, url: request.url)
    }
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
        if try await entry.part.answered(head, to: request, entry.context) == .resend {
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

  private func savers(
    _ response: Response, _ attempt: AuthorizationAttempt
  ) throws(HTTPError) -> [SessionAuthenticator] {
    if case .into(let session) = mark { return session.saves(response.head, isMarked: true) ? [session] : [] }
    let credentials = attempt.client.configuration.credentials
    guard !credentials.isEmpty, response.status.isSuccess else { return [] }
    var isMarked = false
    if case .client = mark { isMarked = true }
    let origin = try HTTPOrigin(of: attempt.request.url)
    return credentials.compactMap { scoped in
      guard let session = scoped.credential as? SessionAuthenticator, scoped.matches(origin),
        session.saves(response.head, isMarked: isMarked)
      else { return nil }
      return session
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
