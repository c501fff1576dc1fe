import CurlTransport

/// A client's base URL, checked once: absolute, http or https, with a host. And how what is relative is joined to
/// one.
struct BaseURL: Sendable {
  private let text: String
  /// What a path is put behind: without query, fragment and the slashes at its end.
  private let root: String
  /// From the question mark on.
  private let query: String
  private let failure: HTTPError?

  init(_ text: String) {
    self.text = text
    (root, query) = Self.parts(text)
    do throws(HTTPError) {
      _ = try CurlURL(text)
      failure = nil
    } catch {
      failure = HTTPError(
        error.kind, phase: .queue, message: "the client's baseURL can't be used: \(error.message)",
        advice: "Give an absolute URL such as https://api.host/v1", url: text)
    }
  }

  /// The URL.
  /// - Throws: what is wrong with it.
  func checked() throws(HTTPError) -> String {
    if let failure { throw failure }
    return text
  }

  /// The URL of a path that begins with a slash, or of none, and items behind the base's own query.
  ///
  /// - Throws: what is wrong with the base.
  func url(path: String, query items: [QueryItem]) throws(HTTPError) -> String {
    guard !path.isEmpty, failure == nil else { return Self.join(try checked(), path: path, query: items) }
    let url = query.isEmpty ? root + path : root + path + query
    return items.isEmpty ? url : QueryText.adding(items, to: url)
  }

  /// Whether a text begins with a scheme and `:`.
  static func isAbsolute(_ url: String) -> Bool {
    guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let scheme = url.utf8[..<colon]
    return !scheme.isEmpty
      && scheme.allSatisfy { byte in
        PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: "_") && byte != UInt8(ascii: "~")
          || byte == UInt8(ascii: "+")
      }
  }

  /// The base's path, then the other's; the base's query, then the other's. One slash stands between them.
  static func join(_ base: String, path: String, query: [QueryItem]) -> String {
    let withoutFragment = base.prefix { $0 != "#" }
    if path.isEmpty { return QueryText.adding(query, to: String(withoutFragment)) }
    let (root, ownQuery) = parts(base)
    return QueryText.adding(query, to: root + (path.hasPrefix("/") ? path : "/" + path) + ownQuery)
  }

  private static func parts(_ base: String) -> (root: String, query: String) {
    let withoutFragment = base.prefix { $0 != "#" }
    let mark = withoutFragment.firstIndex(of: "?") ?? withoutFragment.endIndex
    var root = withoutFragment[..<mark]
    while root.hasSuffix("/") { root.removeLast() }
    return (String(root), String(withoutFragment[mark...]))
  }

  /// A relative reference as it was written, behind the base. Nothing in it is encoded or taken out.
  static func join(_ base: String, reference: String) -> String {
    let fragment = reference.firstIndex(of: "#") ?? reference.endIndex
    let mark = reference[..<fragment].firstIndex(of: "?") ?? fragment
    let joined = join(base, path: String(reference[..<mark]), query: [])
    let query = reference[mark..<fragment].dropFirst()
    guard !query.isEmpty else { return joined + reference[fragment...] }
    return joined + (joined.contains("?") ? "&" : "?") + query + reference[fragment...]
  }
}
