public import StreamCore

/// Makes keys that a server can trust, and signs with them: an app attestation service, or a key in a file.
public protocol AttestationProvider: Sendable {
  /// Why it isn't available on this machine; nil when it is.
  func unavailability() async -> String?
  /// A new key's id, or the one that is there already.
  func makeKey() async throws(HTTPError) -> String
  /// What a server is told once of a key, bound to this client data.
  func attest(keyID: String, clientData: [UInt8]) async throws(HTTPError) -> [UInt8]
  /// What shows that the key is at hand, bound to this client data.
  func assert(keyID: String, clientData: [UInt8]) async throws(HTTPError) -> [UInt8]
}

extension AttestationProvider {
  /// Nil: it is available.
  public func unavailability() async -> String? { nil }
}

/// A P-256 key in a file of mode 0600, for machines without an attestation service.
///
/// The key's id is the thumbprint of its public half (RFC 7638). The attestation is a JSON object of `format`
/// ("penstock-p256"), `jwk` and `signature`; an assertion is the bare signature: 64 bytes r‖s of ECDSA with SHA-256 over
/// the client data. It proves possession of the key, nothing about the machine.
public final class P256FileProvider: AttestationProvider {
  private let file: SecretFileAccess
  private let flight = SingleFlight<SigningKey>()

  /// Where the key is, or will be made. A file that others may read is refused.
  public init(path: String) { file = SecretFileAccess(path: path) }

  private func key() async throws(HTTPError) -> SigningKey {
    try await flight.run { [file] () async throws(HTTPError) in
      // Two processes that start at once must agree on one key.
      try await file.locked { () async throws(HTTPError) in
        if let pem = try file.read() {
          let key = try SigningKey(pem: String(decoding: pem, as: UTF8.self))
          guard key.algorithm == .p256 else {
            throw HTTPError(
              .invalidConfiguration, phase: .file, message: "the key in \"\(file.path)\" isn't of P-256")
          }
          return key
        }
        let key = try SigningKey.generate(.p256)
        try file.write(Array(try key.exportPEM().utf8))
        return key
      }
    }
  }

  /// The thumbprint of the key, which is made the first time.
  public func makeKey() async throws(HTTPError) -> String { try JSONWebKey(try await key()).thumbprint() }

  /// The public key with its own signature of the client data.
  public func attest(keyID: String, clientData: [UInt8]) async throws(HTTPError) -> [UInt8] {
    let key = try await matching(keyID)
    let object = WrittenJSON.members([
      "format": .string("penstock-p256"), "jwk": .members(try JSONWebKey(key).members),
      "signature": .string(Base64.encode(try key.signature(of: clientData))),
    ])
    return Array(object.sorted.utf8)
  }

  /// The signature of the client data.
  public func assert(keyID: String, clientData: [UInt8]) async throws(HTTPError) -> [UInt8] {
    try await matching(keyID).signature(of: clientData)
  }

  private func matching(_ keyID: String) async throws(HTTPError) -> SigningKey {
    let key = try await key()
    guard try JSONWebKey(key).thumbprint() == keyID else {
      throw HTTPError(
        .loginDenied, phase: .queue, message: "the key in \"\(file.path)\" isn't the one that was registered",
        advice: "Register again")
    }
    return key
  }
}

/// Remembers which key a server knows.
public struct RegistrationStore: Sendable {
  let load: @Sendable () async throws(HTTPError) -> String?
  let save: @Sendable (String?) async throws(HTTPError) -> Void

  /// By closures; nil means none.
  public init(
    load: @escaping @Sendable () async throws(HTTPError) -> String?,
    save: @escaping @Sendable (String?) async throws(HTTPError) -> Void
  ) {
    self.load = load
    self.save = save
  }

  /// As long as the process lives.
  public static func memory(_ keyID: String? = nil) -> RegistrationStore {
    let store = MemorySessionStore(keyID.map { Session(token: nil, proofKeyID: $0) })
    return RegistrationStore(
      load: { () async throws(HTTPError) in try await store.load()?.proofKeyID },
      save: { keyID async throws(HTTPError) in try await store.save(Session(token: nil, proofKeyID: keyID)) })
  }

  /// In a file of mode 0600.
  public static func file(_ path: String) -> RegistrationStore {
    let file = SecretFileAccess(path: path)
    return RegistrationStore(
      load: { () async throws(HTTPError) in
        let text = try file.read().map { String(decoding: $0, as: UTF8.self) }
        return text.flatMap { $0.isEmpty ? nil : $0 }
      },
      save: { keyID async throws(HTTPError) in
        if let keyID { try file.write(Array(keyID.utf8)) } else { try file.remove() }
      })
  }

  /// Beside the tokens of a session: a new login registers anew.
  public static func session(_ authenticator: SessionAuthenticator) -> RegistrationStore {
    RegistrationStore(
      load: { () async throws(HTTPError) in try await authenticator.session()?.proofKeyID },
      save: { keyID async throws(HTTPError) in try await authenticator.setProofKey(keyID) })
  }
}
