/// Which redirects are followed (RFC 9110 §15.4, with the method rules of the Fetch standard).
public struct RedirectPolicy: Sendable {
  /// How many hops at most; 20. One more throws `HTTPError.Kind.tooManyRedirects`. 0 follows none: the 3xx is
  /// the response.
  public var limit = 20
  /// Whether a redirect from https to http is followed; else it throws `HTTPError.Kind.redirectRefused`.
  public var allowsDowngrade = false
  /// Whether secrets go along to another origin. Else Authorization, Cookie, Proxy-Authorization, the usual names of
  /// keys and tokens (`X-Api-Key`, `X-Auth-Token`, … : `Request.secretHeaders` tells them all) and the request's
  /// `secretHeaders` are dropped on any change of scheme, host or port, and not restored later, those of
  /// `ClientConfiguration.headers` included.
  public var keepsSecrets = false
  /// Has a say in every redirect, before it is checked; nil, the default: all are followed that may be. It is
  /// called between two requests and should be quick.
  public var decide: (@Sendable (RedirectProposal) -> RedirectChoice)?

  /// The defaults.
  public init() {}

  /// No redirect is followed.
  public static let none: RedirectPolicy = {
    var policy = RedirectPolicy()
    policy.limit = 0
    return policy
  }()
}

/// A redirect that is about to be followed.
public struct RedirectProposal: Sendable {
  /// What the server answered.
  public let head: ResponseHead
  /// The request that it answered.
  public let request: Request
  /// The request that would be sent next: method and body as the rules have it, secrets dropped where the origin
  /// changes.
  public let next: Request
  /// From where to where.
  public let hop: RedirectHop
  /// Those that led here.
  public let history: [RedirectHop]
  /// Whether scheme, host or port change.
  public let changesOrigin: Bool
}

/// What becomes of a redirect.
public enum RedirectChoice: Sendable {
  /// It is followed, if the policy's other settings allow it.
  case follow
  /// It isn't: the 3xx is the response, its body to be read.
  case stop
  /// This request is sent instead. The limit and the rule against going from https to http hold for it, too, and
  /// secrets of the request that was answered don't go along to another origin: those that it has anew do.
  case rewrite(Request)
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
