import StreamCore

/// Where an answer to a login or refresh holds its tokens.
public struct SessionTokens: Sendable, Hashable {
  /// The place of one value.
  public enum Place: Sendable, Hashable {
    /// A field of the JSON body, below others with dots between: "data.token".
    case field(String)
    /// A header field.
    case header(String)
    /// Nowhere.
    case none
  }

  /// Where the token is.
  public var token: Place
  /// Where the refresh token is.
  public var refreshToken: Place
  /// Fields of the JSON body that may hold the token's lifetime in seconds; the first that is there counts.
  public var lifetimeFields = ["expires_in", "expiresIn"]

  /// From two places.
  public init(token: Place, refreshToken: Place = .none) {
    self.token = token
    self.refreshToken = refreshToken
  }

  /// `sessionToken` and `refreshToken` of the body.
  public static let sessionTokens = fields(token: "sessionToken", refreshToken: "refreshToken")
  /// `accessToken` and `refreshToken` of the body.
  public static let accessTokens = fields(token: "accessToken", refreshToken: "refreshToken")
  /// `access_token` and `refresh_token` of the body (RFC 6749 §5.1).
  public static let oauth2 = fields(token: "access_token", refreshToken: "refresh_token")
  /// Fields of the body by names of one's own.
  public static func fields(token: String, refreshToken: String? = nil) -> SessionTokens {
    SessionTokens(token: .field(token), refreshToken: refreshToken.map { .field($0) } ?? .none)
  }

  /// The session that an answer holds; nil when it has no token, or one that no field could carry.
  ///
  /// - Parameters:
  ///   - body: the content, which may be anything.
  ///   - now: seconds since 1970, for lifetimes.
  func session(headers: HTTPFields, body: [UInt8], now: Int64) -> Session? {
    let node = WrittenJSON.parse(body)
    func value(_ place: Place) -> String? {
      switch place {
      case .field(let path): node?.at(path)?.text
      case .header(let name): headers[name].flatMap { $0.isEmpty ? nil : $0 }
      case .none: nil
      }
    }
    guard let token = value(token), token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    var session = Session(token: token, refreshToken: value(refreshToken))
    if let seconds = lifetimeFields.lazy.compactMap({ node?.at($0)?.integer }).first, seconds >= 0 {
      session.expiresAt = Self.end(now, seconds)
    } else if let claims = JWTClaims(token), let lifetime = claims.lifetime(asOf: now) {
      session.expiresAt = Self.end(now, lifetime)
    }
    return session
  }

  /// Nil for a time that is no number any more: such a token doesn't end.
  private static func end(_ now: Int64, _ lifetime: Int64) -> Int64? {
    let (end, overflow) = now.addingReportingOverflow(lifetime)
    return overflow ? nil : end
  }
}

/// What a JSON Web Token (RFC 7519) says of its own time. It isn't checked: that is the server's task.
public struct JWTClaims: Sendable, Hashable {
  /// When it ends, in seconds since 1970 (`exp`).
  public let expiresAt: Int64?
  /// When it was made, in seconds since 1970 (`iat`).
  public let issuedAt: Int64?

  /// Nil for a text that isn't three parts in base64url with a JSON object in the second.
  public init?(_ token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, let bytes = Base64URL.decode(parts[1]),
      let node = WrittenJSON.parse(bytes), case .object = node
    else { return nil }
    expiresAt = node.at("exp")?.integer
    issuedAt = node.at("iat")?.integer
  }

  /// How long it lives from now on. A token that was just issued lives from `iat` to `exp`, whatever the clocks
  /// of this machine and the server say; without `iat` the wall's time must do.
  func lifetime(asOf now: Int64) -> Int64? {
    guard let expiresAt else { return nil }
    let (lifetime, overflow) = expiresAt.subtractingReportingOverflow(issuedAt ?? now)
    return overflow || lifetime < 0 ? nil : lifetime
  }
}
