import CurlTransport

extension TransportRequest {
  /// Sets the proxy for the URL, and takes what is meant for it out of what the server gets.
  mutating func chooseProxy(_ request: Request, default selection: ProxySelection) throws(HTTPError) {
    // Most requests are a client's plain ones without a proxy, and the rest was looked at once for all.
    if isApproved, selection.isDirect { return }
    var selection = selection
    if let policy = request.proxy { selection = ProxySelection(policy) }
    if !selection.isDirect, sharedOptions.value.addressing.unixSocket == nil,
      var proxy = try selection.proxy(for: url)
    {
      if let field = headers["Proxy-Authorization"] { proxy.headers.append("Proxy-Authorization", field) }
      options.proxy = proxy
    }
    // For the next proxy and nobody behind it (RFC 9110 §11.7.2).
    if headers.contains("Proxy-Authorization") { headers.removeAll("Proxy-Authorization") }
  }
}
