/// Which redirects are followed (RFC 9110 §15.4, with the method rules of the Fetch standard).
public struct RedirectPolicy: Sendable, Hashable {
  /// How many hops at most; 20. One more throws `HTTPError.Kind.tooManyRedirects`. 0 follows none: the 3xx is
  /// the response.
  public var limit = 20
  /// Whether a redirect from https to http is followed; else it throws `HTTPError.Kind.redirectRefused`.
  public var allowsDowngrade = false
  /// Whether secrets go along to another origin. Else Authorization, Cookie, Proxy-Authorization and the
  /// request's `secretHeaders` are dropped on any change of scheme, host or port, and not restored later,
  /// those of `ClientConfiguration.headers` included.
  public var keepsSecrets = false

  /// The defaults.
  public init() {}

  /// No redirect is followed.
  public static let none: RedirectPolicy = {
    var policy = RedirectPolicy()
    policy.limit = 0
    return policy
  }()
}

/// One redirect that was followed.
public struct RedirectHop: Sendable, Hashable {
  /// The status that said so.
  public let status: HTTPStatus
  /// The URL that answered.
  public let from: String
  /// The URL that is asked next.
  public let to: String
  /// The method of the next request.
  public let method: HTTPMethod
}
