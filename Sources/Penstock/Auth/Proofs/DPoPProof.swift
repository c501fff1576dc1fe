public import StreamCore
import Synchronization

/// Shows that a key is at hand, for each request anew (DPoP, RFC 9449): a JSON Web Token about method, URL, time
/// and access token in the field DPoP.
///
/// Put it after a credential: a token under the scheme DPoP or Bearer in Authorization is bound to the proof by its
/// hash. The server's nonces are remembered by origin, and a refusal for want of one sends the request again.
public final class DPoPProof: RequestProof {
  private let key: SigningKey
  private let clock: AuthClock
  private let tokenID: @Sendable () -> String
  private let nonces = Mutex<[HTTPOrigin: String]>([:])
  private static let limit = 64

  /// A proof of this key: P-256 as the RFC expects, or Ed25519.
  public convenience init(_ key: SigningKey) {
    self.init(key, clock: .system, tokenID: { RandomBytes.text(16) })
  }

  init(_ key: SigningKey, clock: AuthClock, tokenID: @escaping @Sendable () -> String) {
    self.key = key
    self.clock = clock
    self.tokenID = tokenID
  }

  /// The thumbprint of the key (RFC 7638): `dpop_jkt` of an authorization request, `jkt` of a token.
  public func thumbprint() throws(HTTPError) -> String { try JSONWebKey(key).thumbprint() }

  /// Puts the field DPoP on.
  public func prove(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    let target = try RequestTarget(request.url)
    let nonce = nonces.withLock { $0[context.origin] }
    context.note = nonce
    var payload: [String: WrittenJSON] = [
      "jti": .string(tokenID()), "htm": .string(request.method.rawValue),
      // Without query and fragment (RFC 9449 §4.2).
      "htu": .string("\(context.origin.scheme)://\(context.origin.authority)\(target.path)"),
      "iat": .number(String(clock.wall())),
    ]
    if let nonce { payload["nonce"] = .string(nonce) }
    if let token = Self.token(request.headers["Authorization"]) {
      payload["ath"] = .string(Base64URL.encode(try Digest.of(Array(token.utf8), .sha256).bytes))
    }
    request.headers["DPoP"] = try JSONWebSignature.sign(
      header: ["typ": .string("dpop+jwt"), "jwk": .members(try JSONWebKey(key).members)], payload: payload,
      with: key)
  }

  private static func token(_ field: String?) -> Substring? {
    guard let field, let blank = field.firstIndex(of: " ") else { return nil }
    let scheme = field[..<blank].lowercased()
    return scheme == "dpop" || scheme == "bearer" ? field[field.index(after: blank)...] : nil
  }

  /// Remembers the server's nonce; sends again where it was missing or too old (RFC 9449 §8, §9).
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict {
    guard let nonce = head.headers["DPoP-Nonce"], !nonce.isEmpty else { return .deliver }
    nonces.withLock { nonces in
      if nonces.count >= Self.limit, nonces[context.origin] == nil { nonces.removeAll() }
      nonces[context.origin] = nonce
    }
    guard context.resends == 0, nonce != context.note as? String else { return .deliver }
    // A resource server says so in its challenge; a token endpoint in its body, which isn't read here.
    let asks = AuthChallenge.all(in: head.headers).contains { $0.parameters["error"] == "use_dpop_nonce" }
    let isTokenEndpoint = head.status == 400 && context.note == nil
    return (head.status == 401 && asks) || isTokenEndpoint ? .resend : .deliver
  }
}
