public import StreamCore

/// A private key for proofs and signatures: P-256 (ECDSA with SHA-256) or Ed25519. It is never printed.
public struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// What kind of key it is.
  public enum Algorithm: String, Sendable, Hashable {
    /// ECDSA over P-256 with SHA-256: "ES256" of JOSE, "ecdsa-p256-sha256" of RFC 9421.
    case p256
    /// Ed25519 (RFC 8032): "EdDSA" of JOSE, "ed25519" of RFC 9421.
    case ed25519
  }

  let pair: KeyPair

  /// Its kind.
  public var algorithm: Algorithm { pair.kind == .p256 ? .p256 : .ed25519 }

  private init(_ pair: KeyPair) { self.pair = pair }

  /// A new random key. Throws `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  public static func generate(_ algorithm: Algorithm) throws(HTTPError) -> SigningKey {
    guard let pair = KeyPair.generate(algorithm == .p256 ? .p256 : .ed25519) else {
      throw refused("to make a key")
    }
    return SigningKey(pair)
  }

  /// A key from PEM text: PKCS #8, or SEC 1 for P-256, not encrypted.
  ///
  /// Throws `HTTPError.Kind.invalidConfiguration` for anything else, other curves included.
  public init(pem: String) throws(HTTPError) {
    guard let pair = KeyPair(privatePEM: Array(pem.utf8)) else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the signing key isn't a P-256 or Ed25519 key in PEM",
        advice: "Give an unencrypted private key, such as `openssl genpkey -algorithm ed25519` writes")
    }
    self.init(pair)
  }

  /// The private key as PKCS #8 in PEM, for keeping it. It is a secret.
  ///
  /// - Throws: `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  public func exportPEM() throws(HTTPError) -> String {
    guard let pem = pair.privatePEM else { throw Self.refused("to export the key") }
    return String(decoding: pem, as: UTF8.self)
  }

  /// The public key: for P-256 the 65 bytes 4‖x‖y, for Ed25519 32 bytes.
  ///
  /// - Throws: `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  public func publicKey() throws(HTTPError) -> [UInt8] {
    guard let bytes = pair.publicBytes else { throw Self.refused("to give the public key") }
    return bytes
  }

  /// The 64 bytes of a signature: r‖s for P-256.
  ///
  /// - Throws: `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  public func signature(of message: [UInt8]) throws(HTTPError) -> [UInt8] {
    let signature = try signatureDER(of: message)
    if algorithm == .ed25519 { return signature }
    guard let raw = ECDSASignature.raw(fromDER: signature) else { throw Self.refused("a signature") }
    return raw
  }

  /// The same, in DER for P-256.
  func signatureDER(of message: [UInt8]) throws(HTTPError) -> [UInt8] {
    guard let signature = pair.sign(message) else { throw Self.refused("a signature") }
    return signature
  }

  private static func refused(_ what: String) -> HTTPError {
    HTTPError(.outOfResources, phase: .queue, message: "the cryptographic library refuses \(what)")
  }

  /// The kind alone.
  public var description: String { "\(algorithm.rawValue) key" }
  /// Nothing of the key.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The public half of a key, for checking signatures.
public struct VerifyingKey: Sendable {
  private let pair: KeyPair

  /// A key from PEM text (SubjectPublicKeyInfo). Throws `HTTPError.Kind.invalidConfiguration` for any that is
  /// neither P-256 nor Ed25519.
  public init(pem: String) throws(HTTPError) {
    guard let pair = KeyPair(publicPEM: Array(pem.utf8)) else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the key isn't a P-256 or Ed25519 public key in PEM")
    }
    self.pair = pair
  }

  /// The public half of a private key.
  public init(_ key: SigningKey) { pair = key.pair }

  /// Whether these 64 bytes (r‖s for P-256) are the key's signature of a message.
  public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    if pair.kind == .ed25519 { return pair.verifies(signature, of: message) }
    guard let der = ECDSASignature.der(fromRaw: signature) else { return false }
    return pair.verifies(der, of: message)
  }
}
