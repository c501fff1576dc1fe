import StreamCore

/// What a handle is made for and keeps over all its transfers: TLS, addresses, proxy. Handles of different profiles
/// are never mixed. There is one object for each set of options: identity is equality.
final class EasyProfile: Sendable {
  let tls: TLSOptions
  let roots: TrustRoots
  /// Without overrides: those are set for each request.
  let addressing: Addressing
  let proxy: ProxyServer?
  let proxyRoots: TrustRoots?
  let age: ConnectionAge
  /// libcurl's cookie engine, once on, stays on.
  let keepsCookies: Bool

  init(_ options: TransportOptions, age: ConnectionAge) throws(HTTPError) {
    try TLSProblem.check(options.tls, option: "tls")
    tls = options.tls
    roots = try TrustRoots(options.tls, option: "tls")
    addressing = options.addressing.withoutOverrides
    proxy = options.proxy
    self.age = age
    keepsCookies = options.cookies != nil
    if let proxy = options.proxy {
      try TLSProblem.check(proxy.tls, option: "proxy.tls")
      proxyRoots = try TrustRoots(proxy.tls, option: "proxy.tls")
    } else {
      proxyRoots = nil
    }
  }

  /// Whether it was made for such options.
  func fits(_ options: TransportOptions) -> Bool {
    options.tls == tls && options.addressing.withoutOverrides == addressing && options.proxy == proxy
      && (options.cookies != nil) == keepsCookies
  }
}

/// How long a kept connection may stay.
package struct ConnectionAge: Sendable, Hashable {
  /// Without a transfer.
  package var idle: Duration?
  /// Since it was opened.
  package var lifetime: Duration?

  package init(idle: Duration? = .seconds(60), lifetime: Duration? = nil) {
    self.idle = idle
    self.lifetime = lifetime
  }

  /// libcurl counts in whole seconds; more than 30 years is for ever.
  static func seconds(_ limit: Duration?) -> Int? {
    guard let limit else { return nil }
    let (seconds, rest) = limit.components
    return Int(min(max(0, seconds + (rest > 0 ? 1 : 0)), 1_000_000_000))
  }
}
