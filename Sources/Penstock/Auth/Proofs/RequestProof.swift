public import StreamCore

/// Proves something about who sends a request beyond a token: that a key is at hand, that the app is genuine.
///
/// Built in: `AttestationProof` (challenge → register → assert, over a provider such as `P256FileProvider`),
/// `TokenProof`, `DPoPProof` (RFC 9449), `MessageSignature` (RFC 9421), `ProofPair` of two of them. Proofs are put
/// on after the credentials, and before each attempt anew.
public protocol RequestProof: Sendable {
  /// Why it can't be given on this machine or now; nil when it can.
  func unavailability() async -> String?

  /// Puts itself on a request.
  ///
  /// - Throws: whatever the request shall fail with before any byte is sent.
  func prove(_ request: inout Request, _ context: inout CredentialContext) async throws(HTTPError)

  /// Looks at the answer to a proven request; asked only when the request can be sent again.
  func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict
}

extension RequestProof {
  /// Nil: it can be given.
  public func unavailability() async -> String? { nil }
  /// Every answer stands.
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict { .deliver }
}

/// What happens when a proof can't be given.
public enum UnavailableProof: Sendable, Hashable {
  /// The request goes without it.
  case skip
  /// The request fails with `HTTPError.Kind.loginDenied`.
  case fail
}

/// A proof and the origins that it is for; it goes nowhere else.
public struct ScopedProof: Sendable {
  /// The proof.
  public let proof: any RequestProof
  /// Where it goes.
  public let origins: [OriginPattern]
  /// What happens when it can't be given.
  public let unavailable: UnavailableProof

  /// - Parameters:
  ///   - proof: such as `DPoPProof(key)`.
  ///   - origins: such as "https://api.example.com".
  ///   - unavailable: what happens when it can't be given; it is skipped unless said otherwise.
  public init(
    _ proof: some RequestProof, for origins: OriginPattern..., unavailable: UnavailableProof = .skip
  ) {
    self.proof = proof
    self.origins = origins
    self.unavailable = unavailable
  }

  func matches(_ origin: HTTPOrigin) -> Bool { origins.contains { $0.matches(origin) } }
}

/// The stage sees a proof as one more credential.
extension ScopedProof: Credential {
  /// Proves the request, or does what is to be done where that isn't possible.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    // A proof that asks its server first would do so with the session that is refreshed just now.
    if proofIdentity != nil, !AuthExemption.skipped.isEmpty { return }
    if let reason = await proof.unavailability() {
      switch unavailable {
      case .skip: return
      case .fail:
        throw HTTPError(
          .loginDenied, phase: .queue, message: "the proof \(type(of: proof)) can't be given: \(reason)",
          method: request.method, url: request.url)
      }
    }
    try await proof.prove(&request, &context)
  }

  /// Asks the proof.
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict { try await proof.answered(head, to: request, context) }

  private var proofIdentity: ObjectIdentifier? { (proof as? any IdentifiedProof)?.identity }
}

/// A proof that sends requests itself; those skip it.
protocol IdentifiedProof: Sendable {
  var identity: ObjectIdentifier? { get }
}

/// Two proofs, such as an attestation and a device token that stands in for it.
public struct ProofPair: RequestProof, IdentifiedProof {
  /// How the second goes with the first.
  public enum Mode: Sendable, Hashable {
    /// The second when the first isn't available or isn't registered.
    case fallback
    /// Both, as far as they are available.
    case always
    /// The second alone.
    case only
  }

  private let first: any RequestProof
  private let second: any RequestProof
  private let mode: Mode

  /// The first, the second, and how they go together.
  public init(_ first: some RequestProof, _ second: some RequestProof, mode: Mode = .fallback) {
    self.first = first
    self.second = second
    self.mode = mode
  }

  var identity: ObjectIdentifier? {
    (first as? any IdentifiedProof)?.identity ?? (second as? any IdentifiedProof)?.identity
  }

  /// Unavailable when neither can be given.
  public func unavailability() async -> String? {
    guard mode != .only else { return await second.unavailability() }
    guard let reason = await first.unavailability() else { return nil }
    return await second.unavailability().map { "\(reason); \($0)" }
  }

  private struct Note: Sendable {
    var parts: [(proof: any RequestProof, note: (any Sendable)?)] = []
  }

  /// The first, the second or both, by mode. In fallback the second also stands in when the first fails with
  /// anything but a cancellation.
  public func prove(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    var note = Note()
    let outer = context.note
    func give(
      _ proof: any RequestProof, _ request: inout Request, _ context: inout CredentialContext
    ) async throws(HTTPError) {
      context.note = outer
      try await proof.prove(&request, &context)
      note.parts.append((proof, context.note))
    }
    switch mode {
    case .only: try await give(second, &request, &context)
    case .always:
      if await first.unavailability() == nil { try await give(first, &request, &context) }
      if await second.unavailability() == nil { try await give(second, &request, &context) }
    case .fallback:
      let untouched = request
      var isDone = false
      if await first.unavailability() == nil {
        do throws(HTTPError) {
          try await give(first, &request, &context)
          isDone = true
        } catch {
          let canStandIn = await second.unavailability() == nil
          if error.kind == .cancelled || !canStandIn { throw error }
          request = untouched
        }
      }
      if !isDone { try await give(second, &request, &context) }
    }
    context.note = note
  }

  /// Asks those that were given.
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict {
    guard let note = context.note as? Note else { return .deliver }
    for part in note.parts {
      var inner = context
      inner.note = part.note
      if try await part.proof.answered(head, to: request, inner) == .resend { return .resend }
    }
    return .deliver
  }
}

/// A token that a closure makes for each request, such as a device check's, in a header field.
public struct TokenProof: RequestProof {
  private let field: String
  private let token: @Sendable () async throws(HTTPError) -> String?

  /// A field, and what makes its value; nil when there is none, which counts as unavailable.
  public init(
    field: String = "X-DeviceCheck-Token", _ token: @escaping @Sendable () async throws(HTTPError) -> String?
  ) {
    self.field = field
    self.token = token
    Redaction.markField(field)
  }

  /// Puts the token on, if there is one.
  public func prove(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    guard let token = try await token() else { return }
    try SecretCheck.visible(token, "the token of the field \"\(field)\"")
    request.headers[field] = token
  }
}
