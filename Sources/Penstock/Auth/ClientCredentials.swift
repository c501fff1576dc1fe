/// The credentials and proofs of a client, and what every call asks about them, found out once.
final class ClientCredentials: Sendable {
  final class Part: Sendable {
    let credential: any Credential
    /// The same, if it never waits and never asks for anything to be sent again.
    let fixed: (any FixedCredential)?
    /// The same, if it may know at once.
    let prompt: (any PromptCredential)?
    let origins: [OriginPattern]

    init(_ credential: any Credential, _ origins: [OriginPattern]) {
      self.credential = credential
      self.origins = origins
      fixed = (credential as? any FixedCredential).flatMap { $0.isFixed ? $0 : nil }
      prompt = fixed == nil ? credential as? any PromptCredential : nil
    }

    func matches(_ origin: HTTPOrigin) -> Bool {
      for pattern in origins where pattern.matches(origin) { return true }
      return false
    }
  }

  let credentials: [Part]
  let proofs: [Part]
  /// Sessions among the credentials: answers may hold their tokens.
  let sessions: [(session: SessionAuthenticator, part: Part)]
  /// Patterns that can't be read.
  private let badCredential: OriginPattern?
  private let badProof: OriginPattern?

  init(_ configuration: ClientConfiguration) {
    credentials = configuration.credentials.map { Part($0.credential, $0.origins) }
    proofs = configuration.proofs.map { Part($0, $0.origins) }
    sessions = credentials.compactMap { part in
      (part.credential as? SessionAuthenticator).map { ($0, part) }
    }
    badCredential = credentials.lazy.flatMap(\.origins).first(where: \.isInvalid)
    badProof = proofs.lazy.flatMap(\.origins).first(where: \.isInvalid)
  }

  func checkCredentials() throws(HTTPError) { try Self.check(badCredential, "credentials") }
  func checkProofs() throws(HTTPError) { try Self.check(badProof, "proofs") }

  private static func check(_ bad: OriginPattern?, _ setting: String) throws(HTTPError) {
    guard let bad else { return }
    throw HTTPError(
      .invalidConfiguration, phase: .queue,
      message: "the client's setting \"\(setting)\" has the origin \"\(bad)\", which can't be read",
      advice: "Write https://host, https://host:port or https://*.domain")
  }
}
