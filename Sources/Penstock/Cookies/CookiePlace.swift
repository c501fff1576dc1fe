import CurlTransport

/// Where a request goes, as cookies see it.
struct CookiePlace {
  let host: String
  let path: String
  let isSecure: Bool

  init(_ url: String) throws(HTTPError) {
    let parsed = try CurlURL(url)
    host = parsed.host
    isSecure = parsed.isSecure || parsed.host == "localhost" || parsed.host == "127.0.0.1"
    let rest = parsed.text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    path = "/" + (rest.count > 3 ? String(rest[3].prefix { $0 != "?" }) : "")
  }
}
