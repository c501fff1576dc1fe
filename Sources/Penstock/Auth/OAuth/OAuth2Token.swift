public import StreamCore

/// What a token endpoint gives (RFC 6749 §5.1). It is never printed.
public struct OAuth2Token: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The token.
  public var accessToken: String
  /// "Bearer", "DPoP", …
  public var type: String
  /// The token that a new one is got with.
  public var refreshToken: String?
  /// When it ends, in seconds since 1970.
  public var expiresAt: Int64?
  /// What it allows.
  public var scope: String?
  /// OpenID Connect's id token, unchecked.
  public var idToken: String?

  /// Nil when the answer holds no access token.
  init?(headers: HTTPFields, body: [UInt8], now: Int64) {
    guard let session = SessionTokens.oauth2.session(headers: headers, body: body, now: now),
      let token = session.token, let node = WrittenJSON.parse(body)
    else { return nil }
    accessToken = token
    refreshToken = session.refreshToken
    expiresAt = session.expiresAt
    type = node.at("token_type")?.text ?? "Bearer"
    scope = node.at("scope")?.text
    idToken = node.at("id_token")?.text
  }

  /// The same as a session.
  public var session: Session {
    let isBearer = type.lowercased() == "bearer"
    return Session(
      token: accessToken, refreshToken: refreshToken, expiresAt: expiresAt, scheme: isBearer ? nil : type)
  }

  /// The type and end, no token.
  public var description: String { "\(type) token" + (expiresAt.map { " until \($0)" } ?? "") }
  /// The same.
  public var debugDescription: String { description }
  /// Nothing of the tokens.
  public var customMirror: Mirror { Mirror(self, children: ["type": type]) }
}

/// What a token endpoint says when it refuses (RFC 6749 §5.2, RFC 8628 §3.5).
public struct OAuth2Error: Sendable, Hashable {
  /// "invalid_grant", "authorization_pending", …; nil when the answer is of another kind.
  public let code: String?
  /// The server's words for people, those that were sent as secrets cut.
  public let text: String?

  init(body: [UInt8], secrets: [String]) {
    let node = WrittenJSON.parse(body)
    func clean(_ text: String?) -> String? {
      guard var text else { return nil }
      for secret in secrets where secret.utf8.count >= 4 {
        text = text.split(separator: secret, omittingEmptySubsequences: false).joined(
          separator: Redaction.mark)
      }
      // One line, and not a long one.
      let scalars = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
      return String(String(String.UnicodeScalarView(scalars)).prefix(300))
    }
    // A word of the RFCs' kind, which no secret looks like.
    code = node?.at("error")?.text.flatMap { word in
      let isWord = word.utf8.count <= 64 && word.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) }
      return isWord && !secrets.contains(word) ? word : nil
    }
    text = clean(node?.at("error_description")?.text)
  }

  /// As an error of the library: `loginDenied` where the server has decided, `httpStatus` where it may decide
  /// otherwise later.
  func error(status: HTTPStatus, url: String) -> HTTPError {
    let isPassing =
      status.code >= 500 || status.code == 429 || status.code == 408
      || code == "temporarily_unavailable" || code == "server_error"
    let what = [code, text].compactMap { $0 }.joined(separator: ": ")
    return HTTPError(
      isPassing ? .httpStatus : .loginDenied, phase: .head,
      message: "the authorization server refuses" + (what.isEmpty ? " with status \(status)" : ": \(what)"),
      method: .post, url: url, status: status)
  }
}

/// Refreshes through an authorization server.
public struct OAuth2Refresher: SessionRefresher {
  private enum Grant: Sendable {
    case refreshToken
    case clientCredentials
  }

  private let oauth: OAuth2Client
  private let grant: Grant
  private let scope: String?

  init(refreshing oauth: OAuth2Client, scope: String?) {
    self.oauth = oauth
    self.scope = scope
    grant = .refreshToken
  }

  init(clientCredentials oauth: OAuth2Client, scope: String?) {
    self.oauth = oauth
    self.scope = scope
    grant = .clientCredentials
  }

  /// Client credentials need none.
  public var needsRefreshToken: Bool { grant == .refreshToken }
  /// Client credentials need none.
  public var needsNoSession: Bool { grant == .clientCredentials }

  /// One request to the token endpoint.
  public func refresh(_ session: Session, _ context: RefreshContext) async throws(HTTPError) -> Session {
    switch grant {
    case .clientCredentials:
      return try await oauth.clientCredentials(scope: scope, using: context.client).session
    case .refreshToken:
      guard let token = session.refreshToken else {
        throw HTTPError(.loginDenied, phase: .queue, message: "the session has no refresh token")
      }
      return try await oauth.refresh(token, scope: scope, using: context.client).session
    }
  }
}

extension SessionRefresher where Self == OAuth2Refresher {
  /// The refresh token grant (RFC 6749 §6).
  public static func oauth2(_ client: OAuth2Client, scope: String? = nil) -> OAuth2Refresher {
    OAuth2Refresher(refreshing: client, scope: scope)
  }
  /// The client credentials grant (RFC 6749 §4.4), for the first token too.
  public static func clientCredentials(_ client: OAuth2Client, scope: String? = nil) -> OAuth2Refresher {
    OAuth2Refresher(clientCredentials: client, scope: scope)
  }
}
