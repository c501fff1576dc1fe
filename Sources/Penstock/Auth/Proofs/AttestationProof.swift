public import StreamCore

/// The flow of an attested key: get a challenge, register the key once, then assert each request with a fresh
/// challenge.
///
/// - The challenge comes from `challengeURL`: by POST with `{"purpose":"registration"}` or
///   `{"purpose":"assertion"}`, or by GET with the query item `purpose`; the answer's field `challenge` holds it.
/// - Registering posts `{"attestationObject":…,"clientData":…,"keyId":…}` (base64) to `registerURL`, once for all
///   requests that wait for it.
/// - Each request then carries key id, assertion and client data in three fields. The client data is JSON
///   with sorted names: `bodySHA256` (base64), `challenge`, `method`, `path`, `query` (sorted; empty without
///   one).
///
/// Its own requests go through the client with its credentials and without this proof.
public final class AttestationProof: RequestProof, IdentifiedProof {
  /// The names of the three fields.
  public struct Fields: Sendable, Hashable {
    /// The key's id.
    public var keyID = "X-App-Attest-Key-ID"
    /// The assertion in base64.
    public var assertion = "X-App-Attest-Assertion"
    /// The client data in base64.
    public var clientData = "X-App-Attest-Client-Data"
    /// The names that servers of App Attest know.
    public init() {}
  }

  /// How the proof speaks with its server.
  public struct Options: Sendable {
    /// Where challenges come from.
    public var challengeURL: String
    /// Where a key is registered.
    public var registerURL: String
    /// POST or GET.
    public var challengeMethod = HTTPMethod.post
    /// The field of the answer that holds the challenge, below others with dots between.
    public var challengeField = "challenge"
    /// The names of the three fields.
    public var fields = Fields()
    /// Statuses that say that the server doesn't know the key (any more): it is registered anew, and the request
    /// sent again once. None unless said otherwise.
    public var unknownKeyStatuses: Set<Int> = []

    /// With the two URLs.
    public init(challengeURL: String, registerURL: String) {
      self.challengeURL = challengeURL
      self.registerURL = registerURL
    }
  }

  private enum Purpose: String { case registration, assertion }

  private let options: Options
  private let provider: any AttestationProvider
  private let store: RegistrationStore
  private let flight = SingleFlight<String>()

  /// - Parameters:
  ///   - provider: makes and uses the key.
  ///   - store: remembers what was registered.
  public init(_ options: Options, provider: any AttestationProvider, store: RegistrationStore = .memory()) {
    self.options = options
    self.provider = provider
    self.store = store
  }

  var identity: ObjectIdentifier? { ObjectIdentifier(self) }

  /// Why the provider isn't available.
  public func unavailability() async -> String? { await provider.unavailability() }

  /// Whether a key was registered.
  public func hasRegisteredKey() async throws(HTTPError) -> Bool { try await store.load() != nil }

  /// Registers a key unless that was done: once, however many ask at the same time.
  @discardableResult
  public func ensureRegistered(using client: Client) async throws(HTTPError) -> String {
    if let keyID = try await store.load() { return keyID }
    return try await flight.run { [self] () async throws(HTTPError) in
      if let keyID = try await store.load() { return keyID }
      let keyID = try await provider.makeKey()
      let challenge = try await challenge(.registration, client)
      let data = Array(
        WrittenJSON.members([
          "challenge": .string(challenge), "keyId": .string(keyID),
          "purpose": .string(Purpose.registration.rawValue),
        ]).sorted.utf8)
      let attestation = try await provider.attest(keyID: keyID, clientData: data)
      let body = WrittenJSON.members([
        "keyId": .string(keyID), "attestationObject": .string(Base64.encode(attestation)),
        "clientData": .string(Base64.encode(data)),
      ])
      _ = try await exchange(.post, options.registerURL, body, client, "register the key")
      try await store.save(keyID)
      return keyID
    }
  }

  /// Registers where that is still to be done, and puts the three fields on.
  public func prove(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    try request.settleBody()
    guard let digest = try await BodyDigest.of(request.body) else {
      throw HTTPError(
        .invalidBody, phase: .queue, message: "a streamed body can't be attested before it is sent",
        advice: "Give bytes or a file", method: request.method, url: request.url)
    }
    let keyID = try await ensureRegistered(using: context.client)
    let challenge = try await challenge(.assertion, context.client)
    let target = try RequestTarget(request.url)
    let query = (target.query ?? "").split(separator: "&")
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&")
    let data = Array(
      WrittenJSON.members([
        "challenge": .string(challenge), "method": .string(request.method.rawValue),
        "path": .string(target.path), "query": .string(query),
        "bodySHA256": .string(Base64.encode(digest.bytes)),
      ]).sorted.utf8)
    let assertion = try await provider.assert(keyID: keyID, clientData: data)
    request.headers[options.fields.keyID] = keyID
    request.headers[options.fields.assertion] = Base64.encode(assertion)
    request.headers[options.fields.clientData] = Base64.encode(data)
    context.note = keyID
  }

  /// Registers anew where the server doesn't know the key.
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict {
    guard options.unknownKeyStatuses.contains(head.status.code), context.resends == 0,
      let used = context.note as? String
    else { return .deliver }
    // Another request may have registered anew already.
    if try await store.load() == used { try await store.save(nil) }
    return .resend
  }

  // MARK: its own requests

  private func challenge(_ purpose: Purpose, _ client: Client) async throws(HTTPError) -> String {
    let answer: [UInt8]
    if options.challengeMethod == .get {
      let url = KeyCredential.adding("purpose", purpose.rawValue, to: options.challengeURL)
      answer = try await exchange(.get, url, nil, client, "get a challenge")
    } else {
      let body = WrittenJSON.members(["purpose": .string(purpose.rawValue)])
      answer = try await exchange(
        options.challengeMethod, options.challengeURL, body, client, "get a challenge")
    }
    guard let challenge = WrittenJSON.parse(answer)?.at(options.challengeField)?.text else {
      throw HTTPError(
        .malformedResponse, phase: .decode,
        message: "the challenge endpoint's answer has no \"\(options.challengeField)\"",
        method: options.challengeMethod, url: options.challengeURL)
    }
    return challenge
  }

  private func exchange(
    _ method: HTTPMethod, _ url: String, _ body: WrittenJSON?, _ client: Client, _ what: String
  ) async throws(HTTPError) -> [UInt8] {
    var request = Request(method, url, headers: ["Accept": "application/json"])
    request.redirects = RedirectPolicy.none
    if let body {
      request.headers.append("Content-Type", "application/json")
      request.body = .string(body.sorted)
    }
    let sent = request
    let skipped = AuthExemption.skipped.union([ObjectIdentifier(self)])
    let result = await AuthExemption.$skipped.withValue(skipped) { () -> Result<[UInt8], HTTPError> in
      do throws(HTTPError) {
        let response = try await client.send(sent)
        let bytes = try await response.body.collect(upTo: .mebibytes(1))
        guard response.status.isSuccess else {
          throw HTTPError(
            .loginDenied, phase: .head,
            message: "the server refuses to \(what): status \(response.status)", method: method, url: url,
            status: response.status)
        }
        return .success(bytes)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
