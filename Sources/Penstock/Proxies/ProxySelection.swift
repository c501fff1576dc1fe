import CurlTransport
import Glibc

/// A policy made ready: finds the proxy for a URL. Pure, but for one look at the environment.
struct ProxySelection: Sendable {
  private typealias Choice = Result<ProxyServer, HTTPError>

  private let forHTTP: Choice?
  private let forHTTPS: Choice?
  private let rules: [NoProxyRule]

  /// Whether every URL is reached without a proxy.
  let isDirect: Bool

  /// - Parameter environment: how a variable reads; nil when it isn't set.
  init(_ policy: ProxyPolicy, environment: (String) -> String? = Self.variable) {
    switch policy {
    case .direct: self.init(nil, nil, [])
    case .through(let proxy, let except):
      self.init(.success(proxy), .success(proxy), except.compactMap(NoProxyRule.init))
    case .environment, .environmentExcept:
      func value(_ names: String...) -> String? {
        names.lazy.compactMap(environment).first { !$0.isEmpty }
      }
      func choice(_ text: String?) -> Choice? {
        text.map { text in
          do throws(HTTPError) { return .success(try ProxyServer(text)) } catch { return .failure(error) }
        }
      }
      let all = value("all_proxy", "ALL_PROXY")
      var rules = NoProxyRule.list(value("no_proxy", "NO_PROXY") ?? "")
      if case .environmentExcept(let except) = policy { rules = except.compactMap(NoProxyRule.init) }
      self.init(
        choice(value("http_proxy") ?? all), choice(value("https_proxy", "HTTPS_PROXY") ?? all), rules)
    }
  }

  private init(_ http: Choice?, _ https: Choice?, _ rules: [NoProxyRule]) {
    forHTTP = http
    forHTTPS = https
    isDirect = http == nil && https == nil
    self.rules = rules
  }

  /// The proxy for a URL; nil: none. A URL that can't be read is left to whoever sends it.
  func proxy(for url: String) throws(HTTPError) -> ProxyServer? {
    if isDirect { return nil }
    guard let url = try? CurlURL(url), let choice = url.isSecure ? forHTTPS : forHTTP else { return nil }
    if rules.contains(where: { $0.fits(host: url.host, port: url.port) }) { return nil }
    do throws(HTTPError) {
      return try choice.get()
    } catch {
      throw HTTPError(error.kind, phase: .queue, message: error.message, advice: error.advice, url: url.text)
    }
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
