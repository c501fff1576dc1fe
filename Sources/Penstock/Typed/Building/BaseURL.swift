import CurlTransport

/// A client's base URL, checked once: absolute, http or https, with a host. And how what is relative is joined to
/// one.
struct BaseURL: Sendable {
  private let text: String
  private let failure: HTTPError?

  init(_ text: String) {
    self.text = text
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
    let mark = withoutFragment.firstIndex(of: "?") ?? withoutFragment.endIndex
    var text = String(withoutFragment[..<mark])
    if !path.isEmpty {
      while text.hasSuffix("/") { text.removeLast() }
      text += path.hasPrefix("/") ? path : "/" + path
    }
    text += withoutFragment[mark...]
    return QueryText.adding(query, to: text)
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
