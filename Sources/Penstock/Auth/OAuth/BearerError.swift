public import StreamCore

/// Why a server refuses a bearer token, from its WWW-Authenticate field (RFC 6750 §3).
public struct BearerError: Sendable, Hashable {
  /// "invalid_request", "invalid_token" or "insufficient_scope"; nil when the field only asks for a token.
  public let code: String?
  /// The server's words for people.
  public let text: String?
  /// What would be needed.
  public let scopes: [String]
  /// The protection space.
  public let realm: String?

  /// Nil when there is no challenge of the scheme Bearer or DPoP with an error in it.
  public init?(_ headers: HTTPFields) {
    let challenge = AuthChallenge.all(in: headers).first {
      ($0.scheme == "bearer" || $0.scheme == "dpop") && $0.parameters["error"] != nil
    }
    guard let challenge else { return nil }
    code = challenge.parameters["error"]
    text = challenge.parameters["error_description"]
    scopes = challenge.parameters["scope"]?.split(separator: " ").map(String.init) ?? []
    realm = challenge.parameters["realm"]
  }
}
