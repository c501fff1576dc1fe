import StreamCore

/// The public half of a key as JOSE writes it (RFC 7517, RFC 8037).
struct JSONWebKey: Sendable {
  /// With sorted names.
  let members: [String: WrittenJSON]

  init(_ key: SigningKey) throws(HTTPError) {
    let bytes = try key.publicKey()
    switch key.algorithm {
    case .p256:
      members = [
        "kty": .string("EC"), "crv": .string("P-256"), "x": .string(Base64URL.encode(Array(bytes[1..<33]))),
        "y": .string(Base64URL.encode(Array(bytes[33..<65]))),
      ]
    case .ed25519:
      members = ["kty": .string("OKP"), "crv": .string("Ed25519"), "x": .string(Base64URL.encode(bytes))]
    }
  }

  /// The thumbprint (RFC 7638): these members alone, sorted, hashed.
  func thumbprint() throws(HTTPError) -> String {
    try Self.thumbprint(of: WrittenJSON.members(members).sorted)
  }

  static func thumbprint(of canonical: String) throws(HTTPError) -> String {
    Base64URL.encode(try Digest.of(Array(canonical.utf8), .sha256).bytes)
  }
}

/// A signed JSON Web Token (RFC 7515, compact form).
enum JSONWebSignature {
  static func sign(
    header: [String: WrittenJSON], payload: [String: WrittenJSON], with key: SigningKey
  ) throws(HTTPError) -> String {
    var header = header
    header["alg"] = .string(key.algorithm == .p256 ? "ES256" : "EdDSA")
    let signed = [header, payload].map { Base64URL.encode(Array(WrittenJSON.members($0).sorted.utf8)) }
      .joined(separator: ".")
    return signed + "." + Base64URL.encode(try key.signature(of: Array(signed.utf8)))
  }
}
