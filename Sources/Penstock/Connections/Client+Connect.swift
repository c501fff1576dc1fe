import CurlTransport

extension Client {
  /// Opens a connection before it is needed: looks the name up, connects, and does TLS's handshake, so that the next
  /// request for the URL's origin finds the connection ready.
  ///
  /// libcurl keeps no connection that carried nothing, so a HEAD request for the URL is sent and its answer, whatever
  /// its status, is dropped. Choose a URL that is cheap for the server. Redirects aren't followed, and the request has
  /// the client's fields, TLS options and proxy.
  ///
  /// - Throws: what a request to the URL would throw up to its head.
  public func connect(to url: String) async throws(HTTPError) {
    var request = Request.head(url)
    request.redirects = RedirectPolicy.none
    let response = try await send(request)
    // HEAD has no body: with its end the connection is free.
    _ = try await response.body.drain()
  }
}

extension Request {
  /// The weight of its stream among those of an HTTP/2 connection, 1 to 256; nil: 16. Only a hint, and servers that
  /// follow RFC 9113 ignore it. Any other number throws `HTTPError.Kind.invalidConfiguration`.
  public var streamWeight: Int? {
    get { choices.value.streamWeight }
    set { choices.value.streamWeight = newValue }
  }
}
