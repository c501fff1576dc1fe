public import StreamCore

/// Signs requests (HTTP message signatures, RFC 9421): HMAC-SHA-256, ECDSA over P-256 or Ed25519 over chosen
/// components, with a digest of the content (RFC 9530) where that is one of them.
///
/// ```swift
/// let signature = MessageSignature(
///   key: .signing(key), keyID: "me", components: ["@method", "@target-uri", "content-digest"])
/// configuration.proofs = [ScopedProof(signature, for: "https://api.example.com")]
/// ```
public struct MessageSignature: RequestProof {
  /// What is signed with.
  public enum Key: Sendable {
    /// A shared secret: "hmac-sha256".
    case secret([UInt8])
    /// A private key: "ecdsa-p256-sha256" or "ed25519", by its kind.
    case signing(SigningKey)

    var algorithm: String {
      switch self {
      case .secret: "hmac-sha256"
      case .signing(let key): key.algorithm == .p256 ? "ecdsa-p256-sha256" : "ed25519"
      }
    }

    func signature(of bytes: [UInt8]) throws(HTTPError) -> [UInt8] {
      switch self {
      case .secret(let secret): try HMACSHA256.authenticate(bytes, key: secret)
      case .signing(let key): try key.signature(of: bytes)
      }
    }
  }

  /// A part of the request that is signed (RFC 9421 §2.1, §2.2): a field by its name, or one of `@method`,
  /// `@target-uri`, `@authority`, `@scheme`, `@request-target`, `@path`, `@query`, `@query-param;name="…"`.
  public struct Component: Sendable, Hashable, ExpressibleByStringLiteral {
    enum Kind: Sendable, Hashable {
      case method, targetURI, authority, scheme, requestTarget, path, query
      case queryParameter(String)
      case field(String)
    }

    let kind: Kind

    /// By its name.
    public init(_ name: String) {
      switch name {
      case "@method": kind = .method
      case "@target-uri": kind = .targetURI
      case "@authority": kind = .authority
      case "@scheme": kind = .scheme
      case "@request-target": kind = .requestTarget
      case "@path": kind = .path
      case "@query": kind = .query
      default:
        let prefix = "@query-param;name=\""
        if name.hasPrefix(prefix), name.hasSuffix("\""), name.utf8.count > prefix.utf8.count {
          kind = .queryParameter(String(name.dropFirst(prefix.count).dropLast()))
        } else {
          kind = .field(name.lowercased())
        }
      }
    }

    /// By its name.
    public init(stringLiteral value: String) { self.init(value) }

    /// One query item; the name percent-encoded as it is compared.
    public static func queryParameter(_ name: String) -> Component {
      Component("@query-param;name=\"\(PercentEncoding.encode(name.utf8))\"")
    }

    /// As it stands in the signature's input.
    var identifier: String {
      switch kind {
      case .method: "\"@method\""
      case .targetURI: "\"@target-uri\""
      case .authority: "\"@authority\""
      case .scheme: "\"@scheme\""
      case .requestTarget: "\"@request-target\""
      case .path: "\"@path\""
      case .query: "\"@query\""
      case .queryParameter(let name): "\"@query-param\";name=\(SignatureBase.quoted(name))"
      case .field(let name): SignatureBase.quoted(name)
      }
    }
  }

  private let key: Key
  /// The key's name for the server (`keyid`).
  public var keyID: String?
  /// What is signed, in this order.
  public var components: [Component]
  /// The signature's label, a token in small letters.
  public var label = "sig1"
  /// Whether the time is told (`created`).
  public var tellsCreation = true
  /// How long it is good (`expires`), in whole seconds; nil tells nothing.
  public var lifetime: Duration?
  /// Whether each signature gets a random `nonce`.
  public var hasNonce = false
  /// Whether the algorithm is told (`alg`).
  public var tellsAlgorithm = false
  /// What the signature is for (`tag`).
  public var tag: String?
  /// The algorithms of Content-Digest, which is added when it is a component and not there yet.
  public var digests: [Digest.Algorithm] = [.sha256]
  var clock = AuthClock.system

  /// A signature by a key over some components.
  public init(
    key: Key, keyID: String? = nil,
    components: [Component] = ["@method", "@target-uri", "content-digest"]
  ) {
    self.key = key
    self.keyID = keyID
    self.components = components
  }

  /// Puts the fields Signature-Input and Signature on, and Content-Digest where it is a component. Throws
  /// `HTTPError.Kind.invalidConfiguration` for a component that the request doesn't have, and `invalidBody` for the
  /// digest of a stream.
  public func prove(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    guard !label.isEmpty, label.utf8.allSatisfy(Self.isLabelByte) else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "the signature's label \"\(label)\" is no key of RFC 8941")
    }
    try request.settleBody()
    if components.contains("content-digest"), !request.headers.contains("Content-Digest") {
      guard let digest = try await ContentDigest.field(of: request.body, digests) else {
        throw HTTPError(
          .invalidBody, phase: .queue,
          message: "the digest of a streamed body can't be told before it is sent",
          advice: "Give bytes or a file, or set Content-Digest yourself", method: request.method,
          url: request.url)
      }
      request.headers.append("Content-Digest", digest)
    }
    let signed = try sign(request)
    // Signatures of others stay (RFC 9421 §4.3).
    for (name, value) in [("Signature-Input", signed.input), ("Signature", signed.signature)] {
      request.headers[name] = request.headers[name].map { "\($0), \(value)" } ?? value
    }
  }

  /// The members for the fields Signature-Input and Signature.
  func sign(_ request: Request) throws(HTTPError) -> (input: String, signature: String) {
    let now = clock.wall()
    var parameters = SignatureBase.Parameters()
    if tellsCreation { parameters.created = now }
    if let lifetime { parameters.expires = now + max(1, lifetime.components.seconds) }
    if hasNonce { parameters.nonce = RandomBytes.text(16) }
    if tellsAlgorithm { parameters.algorithm = key.algorithm }
    parameters.keyID = keyID
    parameters.tag = tag
    let base = SignatureBase(components: components, parameters: parameters)
    let signature = try key.signature(of: Array(try base.text(of: request).utf8))
    return ("\(label)=\(base.input)", "\(label)=:\(Base64.encode(signature)):")
  }

  private static func isLabelByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"):
      true
    default: false
    }
  }
}
