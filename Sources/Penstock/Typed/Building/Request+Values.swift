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
    let encoded: EncodedContent
    do {
      encoded = try coding.encode(value)
    } catch {
      throw EncodingFailure.error(error, type: type(of: value)).naming(method: method, url: url)
    }
    return Request(method, url, headers: headers, encoded)
  }

  /// A request whose body is these bytes.
  public static func raw(
    _ url: String, _ bytes: some Sequence<UInt8>, method: HTTPMethod = .post,
    contentType: String = "application/octet-stream", headers: HTTPFields = [:]
  ) -> Request {
    Request(method, url, headers: headers, EncodedContent(.bytes(bytes), contentType: contentType))
  }

  /// A request whose body is a file, streamed when it is sent.
  public static func file(
    _ url: String, path: String, method: HTTPMethod = .put,
    contentType: String = "application/octet-stream", headers: HTTPFields = [:]
  ) -> Request {
    Request(method, url, headers: headers, EncodedContent(.file(path), contentType: contentType))
  }

  private init(_ method: HTTPMethod, _ url: String, headers: HTTPFields, _ encoded: EncodedContent) {
    self.init(method, url, headers: headers, body: encoded.body)
    if let type = encoded.contentType { self.headers.setDefault("Content-Type", type) }
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
