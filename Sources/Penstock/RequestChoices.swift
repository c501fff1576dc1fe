import CurlTransport

/// What a request wants otherwise than its client. Each setting is a computed property of `Request`, in the
/// folder of its feature; together they cost a request that has none one reference.
struct RequestChoices: Sendable {
  var withoutDefaults: Set<String> = []
  var timeouts: TimeLimits?
  var watermark: Watermark?
  var decodesContent: Bool?
  var version: VersionPolicy?
  var tls: TLSOptions?
  var addressing: Addressing?
  var proxy: ProxyPolicy?
  var streamWeight: Int?
  var redirects: RedirectPolicy?
  var secretHeaders: [String] = []
  var isLongLived = false
  var priority = 0
  var mayReplayUnsafe = false
  var cookies = CookieUse.ofClient
  var bodyCoding: BodyCoding?
  var expectContinue: Duration?
  var observers: [any ExchangeObserver] = []
  var isResumable = false
  var resumptionRetries = 5
  var rateLimit: ByteRate?
  var retry: RetryPolicy?
  var middlewares: [any Middleware] = []
  var authorizer: (any AttemptAuthorizer)?
  var isExemptFromAuthorization = false
  var values: [ObjectIdentifier: any Sendable] = [:]

  /// What most requests share.
  static let none = CopyOnWrite(RequestChoices())
}

extension Request {
  /// Whether nothing was chosen, so that the client's settings hold as they are.
  var hasNoChoices: Bool { CopyOnWrite.areSame(choices, RequestChoices.none) }

  /// Whether it is a method, a URL and fields, and nothing else.
  var hasOnlyHeaders: Bool {
    guard hasNoChoices, case .empty = body.content else { return false }
    return body.isPlain
  }

  /// Names of default fields that aren't sent ("User-Agent", "Accept", "Accept-Encoding", …).
  public var withoutDefaults: Set<String> {
    get { choices.value.withoutDefaults }
    set { choices.value.withoutDefaults = newValue }
  }
  /// Limits of time in place of the client's.
  public var timeouts: TimeLimits? {
    get { choices.value.timeouts }
    set { choices.value.timeouts = newValue }
  }
  /// How many bytes of the body may wait for the reader, in place of the client's.
  public var watermark: Watermark? {
    get { choices.value.watermark }
    set { choices.value.watermark = newValue }
  }
  /// Whether content codings are asked for and taken off, in place of the client's.
  public var decodesContent: Bool? {
    get { choices.value.decodesContent }
    set { choices.value.decodesContent = newValue }
  }
  /// Which protocol versions may be used, in place of the client's.
  public var version: VersionPolicy? {
    get { choices.value.version }
    set { choices.value.version = newValue }
  }
  /// How the server is verified, in place of the client's.
  public var tls: TLSOptions? {
    get { choices.value.tls }
    set { choices.value.tls = newValue }
  }
  /// How the host is found and reached, in place of the client's.
  public var addressing: Addressing? {
    get { choices.value.addressing }
    set { choices.value.addressing = newValue }
  }
  /// Which redirects are followed, in place of the client's.
  public var redirects: RedirectPolicy? {
    get { choices.value.redirects }
    set { choices.value.redirects = newValue }
  }
  /// Names of further fields that hold secrets: they don't follow a redirect to another origin, and aren't shown.
  ///
  /// Taken for secrets in any case: Authorization, Proxy-Authorization, Authentication-Info, Cookie, Set-Cookie, DPoP,
  /// Api-Key, X-Api-Key, X-Auth-Token, X-Access-Token, X-Refresh-Token, X-Session-Token, X-CSRF-Token and
  /// X-Amz-Security-Token.
  public var secretHeaders: [String] {
    get { choices.value.secretHeaders }
    set { choices.value.secretHeaders = newValue }
  }
  /// Marks an event stream or long poll: it counts against `Limits.longLived`, so that it can't starve calls.
  public var isLongLived: Bool {
    get { choices.value.isLongLived }
    set { choices.value.isLongLived = newValue }
  }
  /// Larger goes first among the waiting requests of a host.
  public var priority: Int {
    get { choices.value.priority }
    set { choices.value.priority = newValue }
  }
  /// Whether a request that isn't idempotent may be sent again on a connection that died unanswered. Only for
  /// servers that recognise repeats.
  public var mayReplayUnsafe: Bool {
    get { choices.value.mayReplayUnsafe }
    set { choices.value.mayReplayUnsafe = newValue }
  }
}
