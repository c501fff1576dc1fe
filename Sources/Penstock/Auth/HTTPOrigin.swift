import CurlTransport
public import StreamCore

/// Scheme, host and port: what a secret is bound to (RFC 6454 §4).
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
  /// "http" or "https".
  public let scheme: String
  /// The host in small letters; an IPv6 address in brackets.
  public let host: String
  /// The port, the scheme's own where the URL has none.
  public let port: UInt16

  /// The origin of an absolute URL. Throws `HTTPError.Kind.invalidURL` or `unsupportedScheme`.
  public init(of url: String) throws(HTTPError) { self.init(try CurlURL(url)) }

  init(_ url: CurlURL) {
    scheme = url.scheme
    host = url.host
    port = url.port
  }

  /// Host and port, the port left out where it is the scheme's own: the Host field (RFC 9110 §7.2).
  var authority: String { port == (scheme == "https" ? 443 : 80) ? host : "\(host):\(port)" }

  /// "https://host:443".
  public var description: String { "\(scheme)://\(host):\(port)" }
}

/// Which origins a credential may go to.
public struct OriginPattern: Sendable, Hashable, CustomStringConvertible {
  private enum Match: Sendable, Hashable {
    case origin(HTTPOrigin)
    /// Any host below this domain, and not the domain itself.
    case subdomains(scheme: String, domain: String, port: UInt16)
    case any
    /// Can't be read.
    case invalid
  }

  private let match: Match
  /// The pattern as it was given, user info cut.
  public let description: String

  /// "https://api.example.com", "http://localhost:8080" (a path after it is ignored), or with a star for one or
  /// more labels below a domain: "https://*.example.com". One that can't be read matches nothing: the requests
  /// of its client throw `HTTPError.Kind.invalidConfiguration`.
  public init(_ text: String) {
    description = Redaction.url(text)
    let parts = text.split(separator: "*.", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[0].hasSuffix("://"), !parts[0].dropLast(3).contains("/") {
      guard let below = try? HTTPOrigin(of: String(parts[0] + parts[1])) else {
        match = .invalid
        return
      }
      match = .subdomains(scheme: below.scheme, domain: "." + below.host, port: below.port)
    } else {
      match = (try? HTTPOrigin(of: text)).map { .origin($0) } ?? .invalid
    }
  }

  /// One origin.
  public init(_ origin: HTTPOrigin) {
    match = .origin(origin)
    description = origin.description
  }

  private init(_ match: Match, _ description: String) {
    self.match = match
    self.description = description
  }

  /// Every origin. Only for credentials that choose by host themselves, such as a netrc file.
  public static let any = OriginPattern(.any, "*")

  var isInvalid: Bool { match == .invalid }

  /// Whether an origin is one of these.
  public func matches(_ origin: HTTPOrigin) -> Bool {
    switch match {
    case .origin(let mine): mine == origin
    case .subdomains(let scheme, let domain, let port):
      scheme == origin.scheme && port == origin.port && origin.host.hasSuffix(domain)
        && origin.host.utf8.count > domain.utf8.count
    case .any: true
    case .invalid: false
    }
  }
}

extension OriginPattern: ExpressibleByStringLiteral {
  /// The same as `init(_:)`.
  public init(stringLiteral value: String) { self.init(value) }
}
