public import StreamCore

/// How a `SessionAuthenticator` sends, saves and refreshes.
public struct SessionOptions: Sendable {
  /// So many refreshes in an interval at most.
  public struct RefreshWindow: Sendable, Hashable {
    /// How many; at least 1.
    public var count: Int
    /// In which time.
    public var interval: Duration

    /// So many in this time.
    public init(count: Int, per interval: Duration) {
      self.count = count
      self.interval = interval
    }
  }

  /// Which answers a session is saved from.
  public enum Saving: Sendable, Hashable {
    /// Those of requests marked by `savesSession()`, and refreshes.
    case marked
    /// Every answer of status 2xx and type JSON that holds the token's field, up to 1 MiB: for APIs that hand out
    /// tokens anywhere. Such answers are collected before the caller gets them.
    case anySuccess
  }

  /// The field that carries the token.
  public var field = "Authorization"
  /// What stands before the token, unless the session says otherwise; empty for the bare token.
  public var scheme = "Bearer"
  /// Where answers hold the tokens.
  public var tokens = SessionTokens.sessionTokens
  /// Which answers a session is saved from.
  public var saving = Saving.marked
  /// How a new token is got; nil: not at all.
  public var refresher: (any SessionRefresher)?
  /// Which statuses say that the token must be refreshed.
  public var refreshStatuses: Set<Int> = [401]
  /// How long one refresh may take; then it fails for all who wait.
  public var refreshLimit = Duration.seconds(30)
  /// How long a refresh whose request may have been sent goes on when nobody waits for it any more; 2 s. The server
  /// may have put another refresh token in the old one's place: without the answer the session would be lost.
  /// Zero: it stops at once.
  public var abandonedRefreshLimit = Duration.seconds(2)
  /// How many refreshes at most; 20 a minute. Nil: any number.
  public var refreshWindow: RefreshWindow? = RefreshWindow(count: 20, per: .seconds(60))
  /// How long the failure of a refresh holds for requests that come later, unless the server has refused: that
  /// holds until the next login.
  public var failureHold = Duration.seconds(5)
  /// How long before its end a token is refreshed; half its life where that is less. Nil: only when the server
  /// refuses it.
  public var refreshAhead: Duration? = .seconds(30)

  /// The defaults: `sessionToken` and `refreshToken`, no refresher.
  public init() {}

  /// The first setting that can't be.
  var invalidSetting: String? {
    if field.isEmpty || !field.utf8.allSatisfy(FieldSyntax.isTokenByte) { return "field" }
    if refreshLimit <= .zero { return "refreshLimit" }
    if abandonedRefreshLimit < .zero { return "abandonedRefreshLimit" }
    if let refreshWindow, refreshWindow.count < 1 || refreshWindow.interval <= .zero {
      return "refreshWindow"
    }
    if failureHold < .zero { return "failureHold" }
    if let refreshAhead, refreshAhead < .zero { return "refreshAhead" }
    return nil
  }
}

/// What has happened to a session. It holds no token: ask the authenticator.
public enum SessionChange: Sendable, Equatable {
  /// A login, or `save`.
  case saved
  /// A refresh has given a new token.
  case refreshed
  /// A refresh has failed; the session is as it was.
  case refreshFailed(HTTPError)
  /// `logout`.
  case loggedOut
  /// The session is used, but couldn't be kept.
  case storeFailed(HTTPError)
}
