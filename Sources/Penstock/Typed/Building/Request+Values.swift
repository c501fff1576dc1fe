extension Request {
  /// POST of a value as JSON.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be encoded.
  public static func post(
    _ url: String, json value: some Encodable, headers: HTTPFields = [:], coding: JSONCoding = .standard
  ) throws(HTTPError) -> Request { try json(.post, url, value, headers: headers, coding: coding) }

  /// PUT of a value as JSON.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be encoded.
  public static func put(
    _ url: String, json value: some Encodable, headers: HTTPFields = [:], coding: JSONCoding = .standard
  ) throws(HTTPError) -> Request { try json(.put, url, value, headers: headers, coding: coding) }

  /// PATCH with a value as JSON.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be encoded.
  public static func patch(
    _ url: String, json value: some Encodable, headers: HTTPFields = [:], coding: JSONCoding = .standard
  ) throws(HTTPError) -> Request { try json(.patch, url, value, headers: headers, coding: coding) }

  /// A request of any method with a value as JSON.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be encoded.
  public static func json(
    _ method: HTTPMethod, _ url: String, _ value: some Encodable, headers: HTTPFields = [:],
    coding: JSONCoding = .standard
  ) throws(HTTPError) -> Request {
    do {
      return Request(method, url, headers: headers, body: try coding.encode(value))
    } catch {
      throw EncodingFailure.error(error, type: type(of: value)).naming(method: method, url: url)
    }
  }

  /// A request whose body is these bytes.
  public static func raw(
    _ url: String, _ bytes: some Sequence<UInt8>, method: HTTPMethod = .post,
    contentType: String = "application/octet-stream", headers: HTTPFields = [:]
  ) -> Request {
    Request(method, url, headers: headers, body: RequestBody.bytes(bytes).typed(contentType))
  }

  /// A request whose body is a file, streamed when it is sent.
  public static func file(
    _ url: String, path: String, method: HTTPMethod = .put,
    contentType: String = "application/octet-stream", headers: HTTPFields = [:]
  ) -> Request {
    Request(method, url, headers: headers, body: RequestBody.file(path).typed(contentType))
  }

  /// A request whose body is a form: names and values in their order.
  public static func form(
    _ url: String, _ fields: KeyValuePairs<String, String>, method: HTTPMethod = .post,
    headers: HTTPFields = [:]
  ) -> Request { Request(method, url, headers: headers, body: .form(fields.map { ($0.key, $0.value) })) }

  /// A request whose body is a form of several parts.
  public static func multipart(
    _ url: String, _ form: MultipartForm, method: HTTPMethod = .post, headers: HTTPFields = [:]
  ) -> Request { Request(method, url, headers: headers, body: .multipart(form)) }

  /// GET with items behind the URL's own query, in their order; those that are nil are left out.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` for a value that can't be written.
  public static func get(
    _ url: String, query: KeyValuePairs<String, (any URLValue)?>, headers: HTTPFields = [:]
  ) throws(HTTPError) -> Request {
    var request = Request.get(url, headers: headers)
    for (name, value) in query { try request.addQuery(name, value) }
    return request
  }

  /// Adds a query item to the URL; nil adds none.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` for a value that can't be written.
  public mutating func addQuery(_ name: String, _ value: (any URLValue)?) throws(HTTPError) {
    guard let item = QueryItem(name, value) else { return }
    if let text = item.unwritable {
      throw HTTPError(
        .encodingFailed, phase: .queue, message: "the query item \"\(name)\" can't be written: \(text)",
        method: method, url: url)
    }
    url = QueryText.adding([item], to: url)
  }
}
