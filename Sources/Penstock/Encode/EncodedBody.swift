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
      if let coding = Self.coding(of: request) { body = try CodedBody.coded(body, coding) }
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
    if let coding = coding(of: request) { fields.append("Content-Encoding", coding.rawValue) }
    if let trailers = request.body.trailers {
      fields.append("Trailer", trailers.names.joined(separator: ", "))
    }
    if !request.hasNoChoices, request.expectContinue != nil, !request.body.isEmpty {
      fields.append("Expect", "100-continue")
    }
    return fields
  }

  /// A body that has a coding already isn't coded again.
  private static func coding(of request: Request) -> BodyCoding? {
    guard !request.hasNoChoices, let coding = request.bodyCoding, !request.body.isEmpty,
      !request.headers.contains("Content-Encoding")
    else { return nil }
    return coding
  }
}
