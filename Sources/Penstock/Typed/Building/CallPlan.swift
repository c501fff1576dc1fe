/// What a call is made of; the last value wins.
struct CallPlan: Sendable {
  enum Query: Sendable {
    case item(QueryItem)
    case model(@Sendable (QueryEncoding) throws(HTTPError) -> [QueryItem])
  }

  var method = HTTPMethod.get
  /// In place of the client's base URL.
  var absoluteURL: String?
  var path = PathText()
  var query: [Query] = []
  var headers = HTTPFields()
  var headerFailure: HTTPError?
  var body: (@Sendable (any BodyEncoder) throws -> EncodedContent)?
  var encoder: (any BodyEncoder)?
  var decoder: (any BodyDecoder)?
  var queryEncoding: QueryEncoding?
  var validation = Validation()
  var errorDecoding: ErrorDecoding?
  var bodyLimit: ByteCount?
  /// What is changed in the request, in order.
  var changes: [@Sendable (inout Request) throws -> Void] = []
  /// A request that is made already, in place of all that.
  var ready: Request?

  /// The request that it stands for.
  func request(_ client: Client) throws(HTTPError) -> Request {
    if let ready { return ready }
    let api = client.configuration.api
    if let failure = path.failure ?? headerFailure { throw failure.naming(method: method, url: path.text) }
    if method.rawValue == "CONNECT" {
      throw HTTPError(
        .invalidMethod, phase: .queue, message: "CONNECT can't be sent as a request",
        advice: "Set a proxy instead", url: path.text)
    }
    let base = try base(client)
    let items = try items(queryEncoding ?? api.query)
    var path = path.text
    if self.path.endsInSlash { path += "/" }
    var request = Request(method, BaseURL.join(base, path: path, query: items), headers: headers)
    if let body {
      let encoded: EncodedContent
      do {
        encoded = try body(encoder ?? api.encoder)
      } catch {
        throw EncodingFailure.error(error, type: EncodedContent.self).naming(method: method, url: request.url)
      }
      request.body = encoded.body
      if let type = encoded.contentType, !client.configuration.headers.contains("Content-Type") {
        request.headers.setDefault("Content-Type", type)
      }
    }
    do {
      for change in changes { try change(&request) }
    } catch {
      if let error = error as? HTTPError { throw error.naming(method: method, url: request.url) }
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "a change of the request failed: \(error)",
        method: method, url: request.url
      ).adding { $0.apiError = error }
    }
    return request
  }

  private func base(_ client: Client) throws(HTTPError) -> String {
    if let absoluteURL { return absoluteURL }
    guard let base = client.base else {
      throw HTTPError(
        .invalidURL, phase: .queue,
        message: "the client has no baseURL, and the path \"\(path.text)\" needs one",
        advice: "Make the client by Client(baseURL:), or begin with absolute(url:)")
    }
    return try base.checked()
  }

  private func items(_ encoding: QueryEncoding) throws(HTTPError) -> [QueryItem] {
    var items: [QueryItem] = []
    for part in query {
      switch part {
      case .item(let item):
        if let value = item.unwritable {
          throw HTTPError(
            .encodingFailed, phase: .queue,
            message: "the query item \"\(item.name)\" can't be written: \(value)",
            method: method, url: path.text)
        }
        items.append(item)
      case .model(let make): items += try make(encoding)
      }
    }
    return items
  }
}
