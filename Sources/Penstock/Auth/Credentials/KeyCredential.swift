import CurlTransport
public import StreamCore

/// A key in a field, a query item or a cookie of a name that the service has chosen.
public struct KeyCredential: Credential, FixedCredential {
  /// Where the key goes.
  public enum Place: Sendable, Hashable {
    /// A header field, with a text before the key such as "Token ".
    case header(String, prefix: String = "")
    /// A query item. URLs end up in logs of servers and proxies: prefer a field where there is the choice.
    case query(String)
    /// A cookie (RFC 6265 §4.2), beside those that the request has.
    case cookie(String)
  }

  private let place: Place
  private let key: Secret

  /// A key and its place. The name counts as secret from now on in every text of the library: what stands under
  /// it is cut.
  public init(_ key: String, in place: Place) {
    self.key = Secret(key)
    self.place = place
    switch place {
    case .header(let name, _): Redaction.markField(name)
    case .query(let name): Redaction.markQueryName(name)
    case .cookie: break
    }
  }

  /// Throws `HTTPError.Kind.invalidConfiguration` for a name or key that can't stand there.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) { try put(on: &request) }

  func put(on request: inout Request) throws(HTTPError) {
    switch place {
    case .header(let name, let prefix):
      guard !name.isEmpty, name.utf8.allSatisfy(FieldSyntax.isTokenByte) else {
        throw HTTPError(
          .invalidConfiguration, phase: .queue, message: "the key's field \"\(name)\" is no token")
      }
      try SecretCheck.fieldValue(prefix + key.value, "the key of the field \"\(name)\"")
      if !request.headers.contains(name) { request.headers.append(name, prefix + key.value) }
    case .query(let name):
      request.url = Self.adding(name, key.value, to: request.url)
    case .cookie(let name):
      try SecretCheck.visible(key.value, "the key of the cookie \"\(name)\"")
      guard !key.value.utf8.contains(where: { [0x22, 0x2C, 0x3B, 0x5C].contains($0) }),
        !name.isEmpty, name.utf8.allSatisfy(FieldSyntax.isTokenByte)
      else {
        throw HTTPError(
          .invalidConfiguration, phase: .queue,
          message: "the name or key of the cookie \"\(name)\" can't stand in a Cookie field")
      }
      let mine = "\(name)=\(key.value)"
      request.headers["Cookie"] =
        request.headers["Cookie"].map { $0.isEmpty ? mine : "\($0); \(mine)" } ?? mine
    }
  }

  /// The URL with one more query item before its fragment.
  static func adding(_ name: String, _ value: String, to url: String) -> String {
    let item = PercentEncoding.encode(name.utf8) + "=" + PercentEncoding.encode(value.utf8)
    let head = url.prefix { $0 != "#" }
    let mark = !head.contains("?") ? "?" : head.hasSuffix("?") || head.hasSuffix("&") ? "" : "&"
    return head + mark + item + url[head.endIndex...]
  }
}

extension Credential where Self == KeyCredential {
  /// An API key: `.apiKey("…", in: .header("X-API-Key"))`, `.query("key")`, `.cookie("sid")`.
  public static func apiKey(_ key: String, in place: KeyCredential.Place) -> KeyCredential {
    KeyCredential(key, in: place)
  }
  /// A header field of one's own that holds a secret.
  public static func header(_ name: String, _ value: String) -> KeyCredential {
    KeyCredential(value, in: .header(name))
  }
}
