import CCurl
package import StreamCore

/// A URL as libcurl reads it: the parts that decide where a request goes. Free of threads.
package struct CurlURL: Sendable, Hashable {
  /// The whole URL, normalised, without fragment and user info.
  package let text: String
  package let authority: Authority
  /// Where the path begins, in bytes, of a URL in which there was nothing to normalise.
  let pathStart: Int?
  private let extras: CopyOnWrite<Extras>?

  /// What few URLs have.
  private struct Extras: Sendable {
    var user: String?
    var password: String?
    var fragment: String?
  }

  package var scheme: String { authority.scheme }
  package var host: String { authority.host }
  package var port: UInt16 { authority.port }
  package var isSecure: Bool { authority.isSecure }
  /// Scheme, host and port: what connections and secrets are bound to.
  package var origin: String { authority.origin }
  /// User name and password of the URL, percent-decoded.
  package var user: String? { extras?.value.user }
  package var password: String? { extras?.value.password }
  package var fragment: String? { extras?.value.fragment }

  /// Parses an absolute http or https URL, or a reference relative to `base`.
  package init(_ text: String, relativeTo base: CurlURL? = nil) throws(HTTPError) {
    if base == nil, let plain = PlainURL(text) {
      self.init(text, plain)
    } else {
      try self.init(parsing: text, relativeTo: base)
    }
  }

  private init(_ text: String, _ plain: PlainURL) {
    self.text = text
    authority = plain.authority
    pathStart = plain.pathStart
    extras = nil
  }

  /// The same by libcurl's parser.
  init(parsing text: String, relativeTo base: CurlURL? = nil) throws(HTTPError) {
    if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw Self.invalid(text, "it holds a control character")
    }
    if Self.lacksHost(text) { throw Self.invalid(text, "it has no host") }
    guard let handle = unsafe curl_url() else {
      throw HTTPError(.outOfResources, phase: .queue, message: "libcurl has no memory for a URL")
    }
    defer { unsafe curl_url_cleanup(handle) }
    let encode = UInt32(CURLU_URLENCODE)
    if let base {
      _ = unsafe base.text.withCString { unsafe curl_url_set(handle, CURLUPART_URL, $0, encode) }
    }
    var given = Self.encodingIllegal(text)
    // libcurl would cut the last segment off (RFC 3986 §5.2.2: path and query stay).
    if let base, given.hasPrefix("#") { given = base.text + given }
    let result = unsafe given.withCString {
      unsafe curl_url_set(handle, CURLUPART_URL, $0, encode | UInt32(CURLU_NON_SUPPORT_SCHEME))
    }
    guard result == CURLUE_OK else {
      throw Self.invalid(text, unsafe curl_url_strerror(result).map { unsafe String(cString: $0) } ?? "")
    }
    func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
      var value: UnsafeMutablePointer<CChar>?
      guard unsafe curl_url_get(handle, part, &value, flags) == CURLUE_OK, let value = unsafe value else {
        return nil
      }
      defer { unsafe curl_free(value) }
      return unsafe String(cString: value)
    }
    let scheme = part(CURLUPART_SCHEME)?.lowercased() ?? ""
    guard scheme == "http" || scheme == "https" else {
      throw HTTPError(
        .unsupportedScheme, phase: .queue,
        message: "the scheme \"\(scheme)\" isn't supported", advice: "Use http or https", url: text)
    }
    guard let given = part(CURLUPART_HOST)?.lowercased(), !given.isEmpty else {
      throw Self.invalid(text, "it has no host")
    }
    guard let host = IDNHost.ascii(given) else { throw Self.invalid(text, "no host can have this name") }
    if host != given { _ = unsafe host.withCString { unsafe curl_url_set(handle, CURLUPART_HOST, $0, 0) } }
    let port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { UInt16($0) } ?? 0
    authority = Authority(scheme: scheme, host: host, port: port, origin: "\(scheme)://\(host):\(port)")
    pathStart = nil
    let user = part(CURLUPART_USER, UInt32(CURLU_URLDECODE))
    let password = part(CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
    let fragment = part(CURLUPART_FRAGMENT)
    for (part, present) in [
      (CURLUPART_USER, user != nil), (CURLUPART_PASSWORD, password != nil),
      (CURLUPART_FRAGMENT, fragment != nil),
    ] where present {
      _ = unsafe curl_url_set(handle, part, nil, 0)
    }
    let hasExtras = user != nil || password != nil || fragment != nil
    extras = hasExtras ? CopyOnWrite(Extras(user: user, password: password, fragment: fragment)) : nil
    guard let whole = part(CURLUPART_URL) else { throw Self.invalid(text, "it can't be put together") }
    self.text = whole
  }

  package static func == (one: CurlURL, other: CurlURL) -> Bool {
    one.text == other.text && one.user == other.user && one.password == other.password
      && one.fragment == other.fragment
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// Whether a host is an IP address, which needs no look-up.
  package static func isAddress(_ host: String) -> Bool {
    if host.utf8.contains(UInt8(ascii: ":")) || host.hasPrefix("[") { return true }
    return host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || ($0 >= 0x30 && $0 <= 0x39) }
  }

  /// Whether a scheme is followed by anything but two slashes: libcurl would take what comes next as the host.
  private static func lacksHost(_ text: String) -> Bool {
    let lower = text.prefix(6).lowercased()
    for scheme in ["http:", "https:"] where lower.hasPrefix(scheme) {
      let rest = text.utf8.dropFirst(scheme.utf8.count)
      return !rest.starts(with: "//".utf8) || rest.dropFirst(2).first == UInt8(ascii: "/")
    }
    return false
  }

  private static func invalid(_ text: String, _ why: String) -> HTTPError {
    HTTPError(
      .invalidURL, phase: .queue, message: "the URL can't be used: \(why)",
      advice: "Give an absolute URL such as https://host/path", url: text)
  }

  /// Encodes what no URL may hold and libcurl lets through (RFC 3986 §2): `"`, `<`, `>`, `` ` ``, `{`, `}`,
  /// `|`, `\`, `^` in path and query. What is encoded already stays as it is.
  private static func encodingIllegal(_ text: String) -> String {
    func isIllegal(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"), UInt8(ascii: "{"),
        UInt8(ascii: "}"), UInt8(ascii: "|"), UInt8(ascii: "\\"), UInt8(ascii: "^"):
        true
      default: false
      }
    }
    let bytes = text.utf8
    guard bytes.contains(where: isIllegal) else { return text }
    // The authority is left alone, so that a bad host stays a bad host.
    let start: String.UTF8View.Index
    if let authority = bytes.firstIndex(of: UInt8(ascii: ":")).map({ bytes.index(after: $0) }),
      bytes[authority...].starts(with: "//".utf8)
    {
      let host = bytes.index(authority, offsetBy: 2)
      start =
        bytes[host...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
    } else {
      start = bytes.startIndex
    }
    var encoded = Array(bytes[..<start])
    for byte in bytes[start...] {
      if isIllegal(byte) {
        PercentEncoding.append(byte, to: &encoded)
      } else {
        encoded.append(byte)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
