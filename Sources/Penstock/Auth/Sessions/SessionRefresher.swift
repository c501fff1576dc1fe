public import StreamCore

/// Gets a new session for an old one.
public protocol SessionRefresher: Sendable {
  /// Whether it needs the session's refresh token; then a session without one isn't refreshed.
  var needsRefreshToken: Bool { get }
  /// Whether it can make a session out of nothing, such as OAuth's client credentials.
  var needsNoSession: Bool { get }
  /// The new session. Without a refresh token in it the old one is kept.
  ///
  /// - Throws: `HTTPError.Kind.loginDenied` when the server has refused for good; any other error counts as passing.
  func refresh(_ session: Session, _ context: RefreshContext) async throws(HTTPError) -> Session
}

extension SessionRefresher {
  /// True.
  public var needsRefreshToken: Bool { true }
  /// False.
  public var needsNoSession: Bool { false }
}

/// What a refresher works with.
public struct RefreshContext: Sendable {
  /// The client of the request that needed the refresh. Requests of the refresher's task skip the very session that is
  /// refreshed, so that the refresh can't wait for itself.
  public let client: Client
  /// Where answers hold the tokens.
  public let tokens: SessionTokens
  /// Seconds since 1970.
  public let now: Int64
}

/// Refreshes by one request: a JSON body with the refresh token, an answer that holds the new tokens.
public struct RefreshEndpoint: SessionRefresher {
  /// The absolute URL.
  public var url: String
  /// POST unless said otherwise. For GET and HEAD there is no body.
  public var method = HTTPMethod.post
  /// The name of the refresh token in the JSON body; nil leaves it out.
  public var refreshField: String? = "refreshToken"
  /// The name of the old token in the JSON body; nil leaves it out.
  public var tokenField: String?
  /// Further texts of the JSON body.
  public var extraFields: [String: String] = [:]
  /// A header field for the refresh token; nil for none.
  public var refreshHeader: String?
  /// Further header fields.
  public var headers: HTTPFields = [:]
  /// Statuses that say that the session is over; other failures count as passing.
  public var finalStatuses: Set<Int> = [400, 401, 403, 404, 410, 422]

  /// An endpoint by its absolute URL.
  public init(_ url: String) { self.url = url }

  /// The new session. Redirects aren't followed: the refresh token goes nowhere else.
  public func refresh(_ session: Session, _ context: RefreshContext) async throws(HTTPError) -> Session {
    var request = Request(method, url, headers: headers)
    request.redirects = RedirectPolicy.none
    var members = extraFields.mapValues { WrittenJSON.string($0) }
    if let refreshField, let token = session.refreshToken { members[refreshField] = .string(token) }
    if let tokenField, let token = session.token { members[tokenField] = .string(token) }
    if let refreshHeader, let token = session.refreshToken {
      try SecretCheck.visible(token, "the refresh token")
      request.headers[refreshHeader] = token
      Redaction.markField(refreshHeader)
    }
    if !members.isEmpty, method != .get, method != .head {
      request.body = .string(WrittenJSON.members(members).sorted)
      request.headers.setDefault("Content-Type", "application/json")
    }
    request.headers.setDefault("Accept", "application/json")
    let response = try await context.client.send(request)
    let body = try await response.body.collect(upTo: .mebibytes(1))
    guard response.status.isSuccess else {
      throw HTTPError(
        finalStatuses.contains(response.status.code) ? .loginDenied : .httpStatus, phase: .head,
        message: "the refresh was answered with status \(response.status)", method: method, url: url,
        status: response.status)
    }
    guard let renewed = context.tokens.session(headers: response.headers, body: body, now: context.now) else {
      throw HTTPError(
        .malformedResponse, phase: .decode, message: "the refresh's answer holds no token",
        advice: "Look at `SessionOptions.tokens`", method: method, url: url, status: response.status)
    }
    return renewed
  }
}

/// Refreshes by a closure.
public struct ClosureRefresher: SessionRefresher {
  /// Whether the closure needs the session's refresh token.
  public let needsRefreshToken: Bool
  private let body: @Sendable (Session, RefreshContext) async throws -> Session

  /// A closure that gets the old session and a client, and returns the new session. Requests through any client in
  /// its task skip the session that is refreshed. What it throws fails the refresh: an `HTTPError` of kind
  /// `loginDenied` for good, anything else for now; the text of other errors is left out, as it may hold a token.
  public init(
    needsRefreshToken: Bool = false,
    _ body: @escaping @Sendable (Session, RefreshContext) async throws -> Session
  ) {
    self.needsRefreshToken = needsRefreshToken
    self.body = body
  }

  /// What the closure returns.
  public func refresh(_ session: Session, _ context: RefreshContext) async throws(HTTPError) -> Session {
    do {
      return try await body(session, context)
    } catch {
      throw .thrown(
        error, or: .transport, phase: .queue, "the refresh's closure failed with a \(type(of: error))")
    }
  }
}

extension SessionRefresher where Self == RefreshEndpoint {
  /// One request with the refresh token in a JSON body.
  public static func endpoint(
    _ url: String, configure: (inout RefreshEndpoint) -> Void = { _ in }
  ) -> RefreshEndpoint {
    var endpoint = RefreshEndpoint(url)
    configure(&endpoint)
    return endpoint
  }
}

extension SessionRefresher where Self == ClosureRefresher {
  /// A closure that gets the old session and a client, and returns the new session.
  public static func closure(
    needsRefreshToken: Bool = false,
    _ body: @escaping @Sendable (Session, RefreshContext) async throws -> Session
  ) -> ClosureRefresher { ClosureRefresher(needsRefreshToken: needsRefreshToken, body) }
}

/// Which sessions and proofs the present task's requests skip: a refresh that goes through the client must not wait
/// for itself.
enum AuthExemption {
  @TaskLocal static var skipped: Set<ObjectIdentifier> = []
}
