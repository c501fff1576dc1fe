import Penstock

/// The command line that all benchmark programs share; what this one can't use is read and ignored.
struct Options: Sendable {
  var mode = ""
  var url = ""
  var cacert: String?
  /// What a body is read as, in mode values.
  var kind = "drain"
  /// Where a download or a pipeline's rows go.
  var to: String?
  /// The URL of a slow host among many.
  var slow: String?
  var version = VersionPolicy.automatic
  var isOnLoop = false
  /// Bodies are read as they come, or into one array.
  var isStreamed = false
  var isCollected = false
  /// Bodies are read as JSON through the typed client.
  var isTyped = false
  /// Calls have a retry policy, a rate limit, a concurrency limit and a circuit breaker, none of which ever acts.
  var isGuarded = false
  /// Calls carry a bearer token, which a credential puts on them.
  var isAuthorized = false
  /// Calls carry the same token, which they bring themselves.
  var hasOwnField = false
  /// A download is hashed (SHA-256) on its way.
  var isHashed = false
  var count = 1
  var requests = 10_000
  var parallel = 64
  var streams = 2000
  /// Ranges of a download at once.
  var segments = 1
  var bytes = 16 << 20
  /// The client's event loops; nil: as many as it has by itself.
  var loops: Int?
  /// Seconds.
  var hold = 2.0

  init?(_ arguments: [String]) {
    guard arguments.count >= 3 else { return nil }
    mode = arguments[1]
    url = arguments[2]
    var rest = arguments.dropFirst(3)
    while let name = rest.popFirst() {
      switch name {
      case "--http2": version = .automatic
      case "--http1.1": version = .http1_1
      case "--on-loop": isOnLoop = true
      case "--streamed": isStreamed = true
      case "--collected": isCollected = true
      case "--typed": isTyped = true
      case "--guarded": isGuarded = true
      case "--bearer": isAuthorized = true
      case "--field": hasOwnField = true
      case "--sha256": isHashed = true
      default:
        guard let value = rest.popFirst(), take(name, value) else { return nil }
      }
    }
  }

  private mutating func take(_ name: String, _ value: String) -> Bool {
    switch name {
    case "--cacert":
      cacert = value
      return true
    case "--as":
      kind = value
      return true
    case "--to":
      to = value
      return true
    case "--slow":
      slow = value
      return true
    case "--hold":
      guard let seconds = Double(value), seconds > 0 else { return false }
      hold = seconds
      return true
    default: break
    }
    guard let number = Int(value), number > 0 else { return false }
    switch name {
    case "--count": count = number
    case "--requests": requests = number
    case "--parallel": parallel = number
    case "--streams": streams = number
    case "--segments": segments = number
    case "--bytes": bytes = number
    case "--loops": loops = number
    default: return false
    }
    return true
  }

  /// The last segment of the URL's path, which a typed call puts behind its base URL.
  var segment: String { url.split(separator: "/").last.map(String.init) ?? "" }

  static let token = "a-token-of-some-length-0123456789"

  /// The GET that is made again and again.
  var request: Request {
    hasOwnField ? .get(url, headers: ["Authorization": "Bearer " + Self.token]) : .get(url)
  }

  /// The client under test.
  func client(parallel: Int) -> Client { Client(configuration: configuration(parallel: parallel)) }

  /// Settings as they come, but for the limits that the work needs.
  func configuration(parallel: Int) -> ClientConfiguration {
    var configuration = ClientConfiguration()
    configuration.limits.total = max(configuration.limits.total, parallel)
    configuration.limits.perHost = max(configuration.limits.perHost, parallel)
    if let loops { configuration.loops = loops }
    configuration.tls.caFile = cacert
    configuration.version = version
    if isAuthorized, let origin = try? HTTPOrigin(of: url) {
      configuration.credentials = [ScopedCredential(.bearer(Self.token), for: OriginPattern(origin))]
    }
    if isGuarded {
      configuration.retry = RetryPolicy()
      configuration.middlewares = [
        RateLimit(perSecond: 1e9, burst: 1 << 20), ConcurrencyLimit(1 << 20), CircuitBreaker(),
      ]
    }
    if isTyped { configuration.api.baseURL = String(url[..<(url.lastIndex(of: "/") ?? url.endIndex)]) }
    return configuration
  }
}
