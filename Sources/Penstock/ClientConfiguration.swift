import CurlTransport

/// The settings of a client. What a request says for itself wins.
public struct ClientConfiguration: Sendable {
  /// How many exchanges run at once; the rest wait their turn, for at most `TimeLimits.admission`. Each must be
  /// 1 or more, else every request throws `HTTPError.Kind.invalidConfiguration`.
  public struct Limits: Sendable, Hashable {
    /// Running calls in all; 256.
    public var total = 256
    /// Running calls per host over HTTP/1.1; 16.
    public var perHost = 16
    /// Running calls per host and loop over HTTP/2, on one connection; 100.
    public var streamsPerConnection = 100
    /// Running long-lived exchanges (`Request.isLongLived`, or open for 30 s), which don't count as calls;
    /// 16,384.
    public var longLived = 16_384

    /// The defaults.
    public init() {}
  }

  /// How many exchanges run at once.
  public var limits = Limits()
  /// Event-loop threads: half the cores, at least one, at most four. An origin stays on one of them until
  /// that has much more to do than the others.
  public var loops = CurlTransport.defaultLoops
  /// Limits of time.
  public var timeouts = TimeLimits()
  /// How many bytes of a body may wait for its reader.
  public var watermark = Watermark.standard
  /// How many bytes of all bodies together may wait for readers; 256 MiB. Above it each stream is held at its
  /// low watermark.
  public var memoryBudget = ByteCount.mebibytes(256)
  /// Idle connections that each loop keeps; 256, and at most an eighth of the descriptors that the process may have.
  public var keptConnections = 256
  /// Fields that every request gets unless it has its own, to whatever host. After a redirect to another origin
  /// Authorization, Cookie, Proxy-Authorization and the request's `secretHeaders` are left out.
  public var headers: HTTPFields = [:]
  /// The User-Agent field (RFC 9110 §10.1.5); nil sends none.
  public var userAgent: String? = "penstock/\(PenstockVersion.library)"
  /// Whether content codings (gzip and deflate; `br` and `zstd` with their package traits) are asked for and
  /// taken off (RFC 9110 §8.4).
  public var decodesContent = true
  /// What a coded body may grow to; beyond it the body throws `HTTPError.Kind.bodyTooLarge`.
  public var decoding = DecodingLimits.standard
  /// Which redirects are followed.
  public var redirects = RedirectPolicy()
  /// Where cookies are kept; nil, the default: nowhere, and none is sent but those of a request's own Cookie field.
  public var cookies: CookieJar?
  /// Which protocol versions may be used.
  public var version = VersionPolicy.automatic
  /// How servers are verified.
  public var tls = TLSOptions()
  /// How hosts are found and reached.
  public var addressing = Addressing()
  /// Which proxy requests go through; as the environment says.
  public var proxy = ProxyPolicy.environment
  /// How long kept connections stay.
  public var connectionAge = ConnectionAgeLimits()
  /// Hosts that are asked by https alone, learned from their answers (RFC 6797); nil: none, and nothing is learned.
  public var hsts: HSTSStore?
  /// What typed calls have in common: base URL, coding, validation.
  public var api = APIDefaults()
  /// Who is told of every exchange.
  public var observers: [any ExchangeObserver] = []
  /// The largest head; 256 KiB, 1,000 lines, 100,000 bytes a line.
  public var headLimit = HeadLimit()

  /// When and how often failed attempts are made again; nil: never.
  public var retry: RetryPolicy?
  /// How many retries all requests together may make, so that an outage doesn't multiply the load; nil: as many
  /// as their policies allow.
  public var retryBudget: RetryBudget? = .standard
  /// Stages around every call, the first outermost.
  public var middlewares: [any Middleware] = []
  /// Puts credentials on each attempt and judges each answer.
  package var authorizer: (any AttemptAuthorizer)?
  /// Time and chance for retries and guards.
  package var clock = PipelineClock.system

  /// Credentials and the origins that they are for; all that fit a request's origin are put on it, in order.
  public var credentials: [ScopedCredential] = []
  /// Proofs of possession or attestation and the origins that they are for; put on after the credentials.
  public var proofs: [ScopedProof] = []

  /// The defaults.
  public init() {}

  var transportConfiguration: CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.loops = max(1, loops)
    configuration.admission.total = limits.total
    configuration.admission.perHost = limits.perHost
    configuration.admission.streamsPerConnection = limits.streamsPerConnection
    configuration.admission.longLived = limits.longLived
    configuration.memoryBudget = Int(clamping: memoryBudget.bytes)
    configuration.keptConnections = keptConnections
    configuration.age = ConnectionAge(idle: connectionAge.idle, lifetime: connectionAge.total)
    return configuration
  }

  /// The first setting that can't be.
  var invalidSetting: String? {
    if limits.total < 1 { return "limits.total" }
    if limits.perHost < 1 { return "limits.perHost" }
    if limits.streamsPerConnection < 1 { return "limits.streamsPerConnection" }
    if limits.longLived < 1 { return "limits.longLived" }
    if redirects.limit < 0 { return "redirects.limit" }
    if loops < 1 { return "loops" }
    if keptConnections < 0 { return "keptConnections" }
    if let name = connectionAge.negative { return name }
    if memoryBudget.bytes < 1 { return "memoryBudget" }
    if let retry, let name = retry.invalidSetting { return "retry." + name }
    if let retryBudget, let name = retryBudget.invalidSetting { return "retryBudget." + name }
    return nil
  }
}
