import BenchOptions
import Penstock

extension Options {
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
    configuration.version = isHTTP1 ? .http1_1 : .automatic
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
