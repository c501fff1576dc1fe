import CurlTransport

/// User name and password that stand in a URL, which are sent as a Basic credential (RFC 7617) and never as
/// part of the URL.
enum URLCredentials {
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
