import CurlTransport

/// Scheme, host and port as one text: what guards, holds and credentials go by.
enum Origin {
  /// The origin of a URL; the URL itself where it can't be parsed, as it will be refused anyway.
  static func of(_ url: String) -> String {
    do throws(HTTPError) {
      return try CurlURL(url).origin
    } catch {
      return url
    }
  }
}
