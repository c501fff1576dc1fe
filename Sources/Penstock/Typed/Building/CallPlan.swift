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
  var body: (@Sendable (any BodyEncoder) throws(HTTPError) -> RequestBody)?
  var encoder: (any BodyEncoder)?
  var decoder: (any BodyDecoder)?
  var queryEncoding: QueryEncoding?
  var validation = Validation()
  var errorDecoding: ErrorDecoding?
  var bodyLimit: ByteCount?
  var failureHandlers: [@Sendable (HTTPError) -> HTTPError] = []
  /// What is changed in the request, in order.
  var changes: [@Sendable (inout Request) throws -> Void] = []
  /// What is changed behind all that, wherever it stands in the chain.
  var lastChanges: [@Sendable (inout Request) throws -> Void] = []
  /// A request that is made already, in place of all that.
  var ready: Request?

  /// The request that it stands for.
  func request(_ client: Client) throws(HTTPError) -> Request {
    var request = try unfinishedRequest(client)
    try apply(lastChanges, to: &request)
    return request
  }

  /// The request without the changes that come last.
  func unfinishedRequest(_ client: Client) throws(HTTPError) -> Request {
    if let ready { return ready }
    let api = client.api
    if let failure = path.failure ?? headerFailure {
      // What was there before the failure tells where to look; where nothing was, the message alone does.
      throw path.text.isEmpty ? failure : failure.naming(method: method, url: path.text)
    }
    if method.rawValue == "CONNECT" {
      throw HTTPError(
        .invalidMethod, phase: .queue, message: "CONNECT can't be sent as a request",
        advice: "Set a proxy instead", url: path.text)
    }
    // No encoding is looked up for a call without a query: most have none.
    let items = query.isEmpty ? [] : try items(queryEncoding ?? api.value.query)
    var request = Request(method, try url(client, items), headers: headers)
    if let body {
      do throws(HTTPError) {
        request.body = try body(encoder ?? api.value.encoder)
      } catch {
        throw error.naming(method: method, url: request.url)
      }
      // A type that the client has for all its requests beats the body's.
      if client.defaultHeaders.contains("Content-Type") { request.body = request.body.typed(nil) }
    }
    try apply(changes, to: &request)
    return request
  }

  private func apply(
    _ changes: [@Sendable (inout Request) throws -> Void], to request: inout Request
  ) throws(HTTPError) {
    do {
      for change in changes { try change(&request) }
    } catch {
      if let error = error as? HTTPError { throw error.naming(method: request.method, url: request.url) }
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "a change of the request failed: \(error)",
        method: request.method, url: request.url
      ).adding { $0.apiError = error }
    }
  }

  private func url(_ client: Client, _ items: [QueryItem]) throws(HTTPError) -> String {
    let path = path.endsInSlash ? path.text + "/" : path.text
    if let absoluteURL {
      guard BaseURL.isAbsolute(absoluteURL) else {
        throw HTTPError(
          .invalidURL, phase: .queue, message: "\"\(Redaction.url(absoluteURL))\" is no absolute URL",
          advice: "Begin it with https:// or http://, or use path(_:) for what is behind the base URL")
      }
      return BaseURL.join(absoluteURL, path: path, query: items)
    }
    guard let base = client.base else {
      throw HTTPError(
        .invalidURL, phase: .queue,
        message: "the client has no baseURL, and the path \"\(path)\" needs one",
        advice: "Make the client by Client(baseURL:), or begin with absolute(url:)")
    }
    return try base.url(path: path, query: items)
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
      case .model(let make):
        do throws(HTTPError) {
          items += try make(encoding)
        } catch {
          throw path.text.isEmpty ? error : error.naming(method: method, url: path.text)
        }
      }
    }
    return items
  }
}
