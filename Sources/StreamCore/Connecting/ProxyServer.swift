/// A proxy and how to speak to it.
///
/// ```swift
/// var proxy = try ProxyServer("http://user:password@proxy.example:3128")
/// proxy.authentication = .digest
/// ```
public struct ProxyServer: Sendable, Hashable {
  /// The protocol that is spoken to a proxy.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// HTTP (RFC 9110 §7.6): absolute targets for http URLs, a tunnel by CONNECT (§9.3.6) for https.
    case http
    /// The same inside TLS.
    case https
    /// SOCKS 4; names are looked up here.
    case socks4
    /// SOCKS 4a; names are looked up by the proxy.
    case socks4a
    /// SOCKS 5 (RFC 1928); names are looked up here.
    case socks5
    /// SOCKS 5; names are looked up by the proxy.
    case socks5h

    /// Whether HTTP is spoken to it.
    package var isHTTP: Bool { self == .http || self == .https }
  }

  /// How credentials are shown to an HTTP proxy.
  public enum Authentication: String, Sendable, Hashable {
    /// Basic (RFC 7617), at once.
    case basic
    /// Digest (RFC 7616), after the proxy has asked.
    case digest
    /// The better one of those that the proxy asks for; costs a round trip.
    case any
  }

  /// The protocol that is spoken to it.
  public var kind: Kind
  /// Its name or address; an IPv6 address without brackets.
  public var host: String
  /// Its port.
  public var port: UInt16
  /// The user's name, if it wants credentials.
  public var user: String?
  /// The password; never in a description.
  public var password: String?
  /// How credentials are shown to an HTTP proxy; `.basic`. SOCKS has a way of its own.
  public var authentication = Authentication.basic
  /// Fields that the proxy alone gets: with CONNECT, or beside the request's own where there is no tunnel.
  public var headers: HTTPFields = [:]
  /// Whether http URLs go through a tunnel too; false. Those of https always do.
  public var tunnelsAlways = false
  /// How TLS is spoken to an https proxy: its own roots, switches, identity. Cipher names, pinned keys and
  /// versions hold too; ALPN, stapling and kept certificates are the server's alone.
  public var tls = TLSOptions()

  /// A proxy from its parts.
  public init(_ kind: Kind = .http, host: String, port: UInt16, user: String? = nil, password: String? = nil)
  {
    self.kind = kind
    self.host = host
    self.port = port
    self.user = user
    self.password = password
  }

  /// A proxy from "SCHEME://USER:PASSWORD@HOST:PORT". Without a scheme it is http, without a port 1080, or 443
  /// for https; user name and password are percent-decoded. "socks" is SOCKS 5 with names looked up by the proxy.
  /// - Throws: `HTTPError.Kind.invalidConfiguration` for anything else; the error shows no password.
  public init(_ url: String) throws(HTTPError) {
    func refuse(_ why: String) -> HTTPError {
      HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "the proxy \"\(Redaction.url(url))\" can't be used: \(why)",
        advice: "Write it as http://HOST:PORT; https, socks4, socks4a, socks5 and socks5h are known as well")
    }
    if url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) { throw refuse("it holds a blank") }
    var rest = url[...]
    var kind = Kind.http
    if let mark = Self.schemeEnd(of: rest) {
      let scheme = rest[..<mark].lowercased()
      rest = rest[rest.index(mark, offsetBy: 3)...]
      guard let known = scheme == "socks" ? .socks5h : Kind(rawValue: scheme) else {
        throw refuse("its scheme isn't known")
      }
      kind = known
    }
    var authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if rest.dropFirst(authority.count).drop(while: { $0 == "/" }).first != nil {
      throw refuse("it has a path")
    }
    if let at = authority.lastIndex(of: "@") {
      let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      user = Self.decoded(parts.first ?? "")
      password = parts.count > 1 ? Self.decoded(parts[1]) : nil
      authority = authority[authority.index(after: at)...]
    }
    guard let (host, port) = Self.hostAndPort(authority) else { throw refuse("host or port can't be read") }
    self.kind = kind
    self.host = host
    self.port = port ?? (kind == .https ? 443 : 1080)
  }

  private static func schemeEnd(of text: Substring) -> String.Index? {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
    return colon
  }

  private static func hostAndPort(_ text: Substring) -> (String, UInt16?)? {
    var rest = text
    let host: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<end]
      rest = text[text.index(after: end)...]
    } else {
      host = text.prefix { $0 != ":" }
      rest = text.dropFirst(host.count)
    }
    guard !host.isEmpty else { return nil }
    guard !rest.isEmpty else { return (host.lowercased(), nil) }
    guard rest.hasPrefix(":") else { return nil }
    guard rest.count > 1 else { return (host.lowercased(), nil) }
    guard let number = DecimalDigits.value(rest.dropFirst().utf8), let port = UInt16(exactly: number),
      port > 0
    else { return nil }
    return (host.lowercased(), port)
  }

  /// Percent-decoded; what is no escape stays.
  private static func decoded(_ text: Substring) -> String {
    String(decoding: PercentEncoding.decode(text), as: UTF8.self)
  }

  /// As libcurl wants it: scheme, host and port.
  package var url: String {
    "\(kind.rawValue)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// Whether an exchange goes through a tunnel, so that the proxy sees none of its fields.
  package func tunnels(isSecure: Bool) -> Bool { !kind.isHTTP || isSecure || tunnelsAlways }
}

extension ProxyServer {
  /// Hashes what tells proxies apart; fields are few and left out.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(host)
    hasher.combine(port)
    hasher.combine(user)
    hasher.combine(tls)
  }
}

extension ProxyServer: CustomStringConvertible, CustomReflectable {
  /// Its URL without credentials.
  public var description: String { url }

  /// Nothing to look into: passwords stay out of dumps.
  public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}
