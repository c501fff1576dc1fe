/// A cookie (RFC 6265 §5.3), as a jar keeps it.
public struct Cookie: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The value. It is a secret: descriptions don't show it.
  public var value: String
  /// The host or domain in small letters, without a dot in front.
  public var domain: String
  /// Whether hosts below the domain get it, too. False: this host alone.
  public var includesSubdomains: Bool
  /// The path that it is for, and all below.
  public var path: String
  /// Whether it goes over https alone (libcurl takes localhost for safe, too).
  public var isSecure: Bool
  /// Whether it is marked as not for scripts; kept for other programs, without meaning here.
  public var isHTTPOnly: Bool
  /// When it ends, in seconds since 1970; nil: with the session.
  public var expires: Int64?

  /// A cookie from its parts; `CookieJar.set` checks them.
  public init(
    _ name: String, _ value: String, domain: String, includesSubdomains: Bool = false, path: String = "/",
    isSecure: Bool = false, isHTTPOnly: Bool = false, expires: Int64? = nil
  ) {
    self.name = name
    self.value = value
    self.domain = domain.hasPrefix(".") ? String(domain.dropFirst()).lowercased() : domain.lowercased()
    self.includesSubdomains = includesSubdomains
    self.path = path
    self.isSecure = isSecure
    self.isHTTPOnly = isHTTPOnly
    self.expires = expires
  }

  /// What makes two cookies the same one, so that the later takes the place of the earlier (RFC 6265 §5.3).
  struct Identity: Hashable {
    let name: String
    let domain: String
    let includesSubdomains: Bool
    let path: String
  }

  var identity: Identity {
    Identity(name: name, domain: domain, includesSubdomains: includesSubdomains, path: path)
  }

  func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

  /// Whether a request to this host and path gets it (RFC 6265 §5.1.3, §5.1.4).
  func matches(host: String, path requested: String, isSecure: Bool) -> Bool {
    guard host == domain || (includesSubdomains && host.hasSuffix("." + domain)) else { return false }
    if self.isSecure, !isSecure { return false }
    guard requested.hasPrefix(path) else { return false }
    return requested.utf8.count == path.utf8.count || path.hasSuffix("/")
      || requested.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
  }

  /// Why it can't be kept or sent.
  func check() throws(HTTPError) {
    func refuse(_ why: String) -> HTTPError {
      HTTPError(
        .invalidHeader, phase: .queue, message: "the cookie \"\(name.prefix(40))\" \(why)",
        advice: "See RFC 6265 §4.1.1")
    }
    func isUsable(_ text: String, _ others: StaticString) -> Bool {
      text.utf8.allSatisfy { byte in
        byte >= 0x20 && byte != 0x7F
          && !UnsafeBufferPointer(start: others.utf8Start, count: others.utf8CodeUnitCount).contains(byte)
      }
    }
    guard !name.isEmpty, isUsable(name, "=; ,") else { throw refuse("has a name that can't be sent") }
    guard isUsable(value, ";") else { throw refuse("has a value with a control character or a semicolon") }
    guard !domain.isEmpty, isUsable(domain, "; /") else { throw refuse("has no usable domain") }
    guard path.hasPrefix("/"), isUsable(path, ";") else {
      throw refuse("has a path that doesn't begin with /")
    }
    guard name.utf8.count + value.utf8.count <= 4096, path.utf8.count + domain.utf8.count <= 4096 else {
      throw refuse("is larger than 4,096 bytes")
    }
  }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible {
  /// Name, domain and path; the value is a secret.
  public var description: String {
    "\(name)=\(Redaction.mark); \(includesSubdomains ? "." : "")\(domain)\(path)"
  }
  /// The same.
  public var debugDescription: String { description }
}
