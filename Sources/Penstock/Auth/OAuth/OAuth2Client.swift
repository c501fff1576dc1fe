public import StreamCore

/// A client of an OAuth 2.0 authorization server (RFC 6749): gets tokens by client credentials, refresh token, device
/// code (RFC 8628) and authorization code with PKCE (RFC 7636).
///
/// ```swift
/// let oauth = OAuth2Client(
///   tokenURL: "https://id.example.com/token", clientID: "job", clientSecret: secret)
/// options.tokens = .oauth2
/// options.refresher = .clientCredentials(oauth, scope: "read")
/// ```
public struct OAuth2Client: Sendable, CustomStringConvertible, CustomReflectable {
  /// How the client shows who it is (RFC 6749 §2.3.1).
  public enum Authentication: Sendable, Hashable {
    /// Id and secret as Basic, form-encoded as the RFC wants it.
    case basic
    /// `client_id` and `client_secret` in the body.
    case post
    /// A public client: `client_id` alone in the body.
    case none
  }

  /// The token endpoint.
  public var tokenURL: String
  /// The client's id.
  public var clientID: String
  let clientSecret: Secret?
  /// How the client shows who it is.
  public var authentication: Authentication
  /// Further parameters of every token request, such as "audience".
  public var parameters: [String: String] = [:]
  var clock = AuthClock.system

  /// A client; without a secret it is a public one.
  public init(
    tokenURL: String, clientID: String, clientSecret: String? = nil, authentication: Authentication? = nil
  ) {
    self.tokenURL = tokenURL
    self.clientID = clientID
    self.clientSecret = clientSecret.map { Secret($0) }
    self.authentication = authentication ?? (clientSecret == nil ? .none : .basic)
  }

  /// The id and the endpoint.
  public var description: String { "OAuth 2 client \(clientID) of \(Redaction.url(tokenURL))" }
  /// Nothing secret.
  public var customMirror: Mirror { Mirror(self, children: ["clientID": clientID]) }

  // MARK: grants

  /// A token for the client itself (RFC 6749 §4.4).
  ///
  /// - Throws: `loginDenied` for what the server refuses, `httpStatus` for what may pass (408, 429, 500 and above),
  ///   `malformedResponse` for an answer without a token, and what `Client.send(_:)` throws.
  public func clientCredentials(scope: String? = nil, using client: Client) async throws(HTTPError)
    -> OAuth2Token
  {
    var form: [(String, String)] = [("grant_type", "client_credentials")]
    if let scope { form.append(("scope", scope)) }
    return try await token(form, secrets: [], using: client)
  }

  /// A new token for a refresh token (RFC 6749 §6). Where the answer has no refresh token, the old one stays.
  ///
  /// - Throws: as `clientCredentials(scope:using:)` does.
  public func refresh(
    _ refreshToken: String, scope: String? = nil, using client: Client
  ) async throws(HTTPError) -> OAuth2Token {
    var form = [("grant_type", "refresh_token"), ("refresh_token", refreshToken)]
    if let scope { form.append(("scope", scope)) }
    var token = try await token(form, secrets: [refreshToken], using: client)
    token.refreshToken = token.refreshToken ?? refreshToken
    return token
  }

  /// A token for the code that came back from the authorization endpoint (RFC 6749 §4.1.3, RFC 7636 §4.5).
  ///
  /// - Throws: as `clientCredentials(scope:using:)` does.
  public func exchange(
    code: String, redirectURI: String, pkce: PKCE?, using client: Client
  ) async throws(HTTPError) -> OAuth2Token {
    var form = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI)]
    if let pkce { form.append(("code_verifier", pkce.verifier.value)) }
    return try await token(form, secrets: [code] + (pkce.map { [$0.verifier.value] } ?? []), using: client)
  }

  /// The URL where a person agrees (RFC 6749 §4.1.1, RFC 7636 §4.3).
  ///
  /// - Parameters:
  ///   - endpoint: the authorization endpoint; its query is kept.
  ///   - state: comes back with the code: compare it.
  public func authorizationURL(
    endpoint: String, redirectURI: String, scope: String? = nil, state: String, pkce: PKCE?,
    parameters: [String: String] = [:]
  ) -> String {
    var items = [
      ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirectURI), ("state", state),
    ]
    if let scope { items.append(("scope", scope)) }
    if let pkce { items += [("code_challenge", pkce.challenge), ("code_challenge_method", "S256")] }
    items += parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    return items.reduce(endpoint) { KeyCredential.adding($1.0, $1.1, to: $0) }
  }

  // MARK: the token endpoint

  /// One request to the token endpoint.
  func token(
    _ form: [(String, String)], secrets: [String], using client: Client
  ) async throws(HTTPError) -> OAuth2Token {
    let (status, headers, body) = try await post(tokenURL, form, using: client)
    guard status.isSuccess else {
      throw OAuth2Error(body: body, secrets: secrets + knownSecrets).error(status: status, url: tokenURL)
    }
    guard let token = OAuth2Token(headers: headers, body: body, now: clock.wall()) else {
      throw HTTPError(
        .malformedResponse, phase: .decode, message: "the token endpoint's answer holds no access token",
        method: .post, url: tokenURL, status: status)
    }
    return token
  }

  var knownSecrets: [String] { clientSecret.map { [$0.value] } ?? [] }

  /// Posts a form with the client's authentication. Redirects aren't followed: secrets go nowhere else.
  func post(
    _ url: String, _ form: [(String, String)], using client: Client
  ) async throws(HTTPError) -> (HTTPStatus, HTTPFields, [UInt8]) {
    var form = form + parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    var request = Request.post(url, headers: ["Accept": "application/json"])
    request.redirects = RedirectPolicy.none
    switch authentication {
    case .basic:
      let id = PercentEncoding.encode(clientID.utf8)
      let secret = PercentEncoding.encode((clientSecret?.value ?? "").utf8)
      request.headers.append("Authorization", "Basic " + Base64.encode(Array("\(id):\(secret)".utf8)))
    case .post: form += [("client_id", clientID), ("client_secret", clientSecret?.value ?? "")]
    case .none: form.append(("client_id", clientID))
    }
    request.headers.append("Content-Type", "application/x-www-form-urlencoded")
    request.body = .string(
      form.map { PercentEncoding.encode($0.0.utf8) + "=" + PercentEncoding.encode($0.1.utf8) }.joined(
        separator: "&"))
    let response = try await client.send(request.noAuth())
    return (response.status, response.headers, try await response.body.collect(upTo: .mebibytes(1)))
  }
}

/// A secret and its challenge, which bind an authorization code to who asked for it (RFC 7636).
public struct PKCE: Sendable, CustomStringConvertible, CustomReflectable {
  let verifier: Secret
  /// BASE64URL(SHA-256(verifier)), for the authorization URL.
  public let challenge: String

  /// A new random verifier of 43 characters.
  public init() throws(HTTPError) { try self.init(verifier: RandomBytes.text(32)) }

  /// A verifier that was kept, 43 to 128 unreserved characters; else `HTTPError.Kind.invalidConfiguration`.
  public init(verifier: String) throws(HTTPError) {
    guard (43...128).contains(verifier.utf8.count), PercentEncoding.encode(verifier.utf8) == verifier else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "the PKCE verifier isn't 43 to 128 unreserved characters (RFC 7636 §4.1)")
    }
    self.verifier = Secret(verifier)
    challenge = Base64URL.encode(try Digest.of(Array(verifier.utf8), .sha256).bytes)
  }

  /// The verifier, for keeping it until the code comes. It is a secret.
  public func exportVerifier() -> String { verifier.value }
  /// The challenge.
  public var description: String { "PKCE challenge \(challenge)" }
  /// Nothing secret.
  public var customMirror: Mirror { Mirror(self, children: ["challenge": challenge]) }
}
