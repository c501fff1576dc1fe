/// Which jar a request uses.
public enum CookieUse: Sendable {
  /// The client's, if it has one.
  case ofClient
  /// None: no cookie is sent but for the request's own Cookie field, none is kept.
  case none
  /// This one.
  case jar(CookieJar)
}

extension Request {
  /// Which cookies are sent and kept, in place of the client's.
  ///
  /// A Cookie field among `headers` is sent besides those of the jar; it is bound to the request's own origin, port
  /// included: a redirect elsewhere drops it.
  public var cookies: CookieUse {
    get { choices.value.cookies }
    set { choices.value.cookies = newValue }
  }
}

extension CookieUse {
  func link(_ configuration: ClientConfiguration) -> CookieLink? {
    switch self {
    case .ofClient: configuration.cookies.map { CookieLink($0) }
    case .none: nil
    case .jar(let jar): CookieLink(jar)
    }
  }
}
