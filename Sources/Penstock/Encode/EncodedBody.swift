import CurlTransport

/// A request's body as it goes out: files of forms opened, the coding put on, and the fields that speak of it.
struct EncodedBody {
  let body: RequestBody
  let fields: HTTPFields

  init(_ request: Request) throws(HTTPError) {
    fields = Self.fields(of: request)
    var body: RequestBody
    do throws(HTTPError) {
      body = try request.body.made()
      if Self.isCoded(request) { body = try GzipBody.coded(body) }
    } catch {
      throw error.naming(method: request.method, url: request.url)
    }
    self.body = body
  }

  /// Trailers exist in HTTP/1.1 alone.
  func apply(to options: CopyOnWrite<TransportOptions>) -> CopyOnWrite<TransportOptions> {
    guard body.trailers != nil, options.value.version == .automatic else { return options }
    var options = options
    options.value.version = .http1_1
    return options
  }

  /// What a request says of its body unless it has these fields itself.
  static func fields(of request: Request) -> HTTPFields {
    var fields = HTTPFields()
    if let type = request.body.contentType { fields.append("Content-Type", type) }
    if isCoded(request) { fields.append("Content-Encoding", "gzip") }
    if let trailers = request.body.trailers {
      fields.append("Trailer", trailers.names.joined(separator: ", "))
    }
    if !request.hasNoChoices, request.expectContinue != nil, !request.body.isEmpty {
      fields.append("Expect", "100-continue")
    }
    return fields
  }

  /// A body that has a coding already isn't coded again.
  private static func isCoded(_ request: Request) -> Bool {
    !request.hasNoChoices && request.bodyCoding != nil && !request.body.isEmpty
      && !request.headers.contains("Content-Encoding")
  }
}
