import CurlTransport
package import StreamCore

/// User name and password that stand in a URL, which are sent as a Basic credential (RFC 7617) and never as
/// part of the URL.
package enum URLCredentials {
  /// User name and password of a URL, and the URL without them; nil where there are none.
  package static func taken(
    from text: String
  ) throws(HTTPError) -> (user: String, password: String, url: String)? {
    guard text.utf8.contains(UInt8(ascii: "@")) else { return nil }
    let url = try CurlURL(text)
    guard let user = url.user else { return nil }
    return (user, url.password ?? "", url.text + (url.fragment.map { "#" + $0 } ?? ""))
  }

  /// The request with its URL's user info as an Authorization field, unless it has one.
  static func applied(to request: Request) throws(HTTPError) -> Request {
    // Nearly no URL has any: look before parsing.
    guard request.url.utf8.contains(UInt8(ascii: "@")) else { return request }
    let url = try CurlURL(request.url)
    guard let user = url.user, !request.headers.contains("Authorization") else { return request }
    var request = request
    let pair = Array("\(user):\(url.password ?? "")".utf8)
    request.headers.append("Authorization", "Basic " + Base64.encode(pair))
    return request
  }
}
