/// A call as a type: everything that it needs, and what comes of it.
///
/// ```swift
/// struct GetArticle: Endpoint {
///   typealias Value = Article
///   let id: Int
///   var path: RequestPath { "/articles/\(id)" }
///   @QueryBuilder var query: [QueryItem] { QueryItem("expand", "author") }
/// }
/// let article: Article = try await client.send(GetArticle(id: 7))
/// ```
///
/// Only `Value` and `path` are required.
public protocol Endpoint<Value>: Sendable {
  /// What comes of it: any `Decodable`, `Void` where nothing is wanted, `RawResponse` for the whole answer.
  associatedtype Value: Sendable
  /// What the server says when it refuses; problem details (RFC 9457) by default.
  associatedtype Failure: Error & Decodable = ProblemDetails

  /// The method; GET.
  var method: HTTPMethod { get }
  /// The path behind the base URL.
  var path: RequestPath { get }
  /// The query; none.
  @QueryBuilder var query: [QueryItem] { get }
  /// The header fields; none. They beat the client's.
  @HeaderBuilder var headers: HTTPFields { get }
  /// The body; none.
  var body: EndpointBody? { get }
  /// What an answer must be like; as the client says.
  var validation: Validation { get }
  /// Encodes the body; nil: as the client does.
  var encoder: (any BodyEncoder)? { get }
  /// Decodes the answer; nil: as the client does.
  var decoder: (any BodyDecoder)? { get }

  /// The last word on the call: limits, redirects, auth.
  func configure(_ call: Call) -> Call
  /// What has to be waited for before the call is made by `Client.send` or `Client.pages`, such as asking where its
  /// server is: `call.absolute(url: await directory.url(of: "books")).path(path)`.
  ///
  /// - Throws: what the call then throws, before any byte is sent.
  func prepare(_ call: Call) async throws(HTTPError) -> Call
  /// The error to throw for a status that isn't accepted, in place of the `HTTPError`; nil: that one. It is found as
  /// the `apiError` of the error that is thrown.
  func failure(for status: HTTPStatus) -> (any Error)?
  /// The value in a validated answer. For types that are `Decodable`, `Void` and `RawResponse` it is there already.
  ///
  /// - Throws: what the call then throws.
  func value(from response: RawResponse, by decoder: any BodyDecoder) throws(HTTPError) -> Value
}

/// The body of an endpoint.
public struct EndpointBody: Sendable {
  let apply: @Sendable (Call) -> Call

  /// A value, by the endpoint's encoder, else the client's.
  public static func value(_ value: some Encodable & Sendable) -> EndpointBody {
    EndpointBody { $0.body(value) }
  }
  /// Bytes.
  public static func raw(
    _ bytes: some Sequence<UInt8> & Sendable, contentType: String = "application/octet-stream"
  ) -> EndpointBody { EndpointBody { $0.body(bytes: bytes, contentType: contentType) } }
  /// A text in UTF-8.
  public static func text(_ text: String) -> EndpointBody { EndpointBody { $0.body(text: text) } }
  /// A file, streamed.
  public static func file(
    _ path: String, contentType: String = "application/octet-stream"
  ) -> EndpointBody { EndpointBody { $0.body(file: path, contentType: contentType) } }
  /// A form: names and values in their order.
  public static func form(_ fields: KeyValuePairs<String, (any URLValue)?>) -> EndpointBody {
    EndpointBody { $0.form(fields) }
  }
  /// A form of several parts.
  public static func multipart(_ form: MultipartForm) -> EndpointBody { EndpointBody { $0.multipart(form) } }
  /// A body that is made already, such as a stream.
  public static func made(_ body: RequestBody) -> EndpointBody { EndpointBody { $0.body(body) } }
}

extension Endpoint {
  /// GET.
  public var method: HTTPMethod { .get }
  /// None.
  public var query: [QueryItem] { [] }
  /// None.
  public var headers: HTTPFields { [:] }
  /// None.
  public var body: EndpointBody? { nil }
  /// As the client says.
  public var validation: Validation { Validation() }
  /// As the client's.
  public var encoder: (any BodyEncoder)? { nil }
  /// As the client's.
  public var decoder: (any BodyDecoder)? { nil }
  /// The call as it is.
  public func configure(_ call: Call) -> Call { call }
  /// The call as it is.
  public func prepare(_ call: Call) async throws(HTTPError) -> Call { call }
  /// None.
  public func failure(for status: HTTPStatus) -> (any Error)? { nil }

  /// The call that it stands for.
  func call(_ client: Client) -> Call {
    var call = client.call.path(path).query(query).method(method).headers(headers).validate(validation)
    if Failure.self != ProblemDetails.self { call = call.decodingErrors(as: Failure.self) }
    if let encoder { call = call.bodyEncoder(encoder) }
    if let decoder { call = call.bodyDecoder(decoder) }
    if let body { call = body.apply(call) }
    return configure(call)
  }
}

extension Endpoint where Value: Decodable {
  /// The value in the body.
  public func value(from response: RawResponse, by decoder: any BodyDecoder) throws(HTTPError) -> Value {
    try response.decode(Value.self, by: decoder)
  }
}

extension Endpoint where Value == Void {
  /// Nothing.
  public func value(from response: RawResponse, by decoder: any BodyDecoder) throws(HTTPError) {}
}

extension Endpoint where Value == RawResponse {
  /// The whole answer.
  public func value(from response: RawResponse, by decoder: any BodyDecoder) throws(HTTPError) -> RawResponse
  {
    response
  }
}
