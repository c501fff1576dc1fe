/// Makes a request's body from a value.
///
/// ```swift
/// struct XMLEncoding: BodyEncoder {
///   func encode(_ value: some Encodable) throws -> EncodedContent {
///     EncodedContent(.bytes(try XML.encode(value)), contentType: "application/xml")
///   }
/// }
/// client.path("orders").bodyEncoder(XMLEncoding()).post(order)
/// ```
public protocol BodyEncoder: Sendable {
  /// The body of a value. What it throws fails the request as `HTTPError.Kind.encodingFailed`, before any byte is
  /// sent.
  func encode(_ value: some Encodable) throws -> EncodedContent
}

/// A body and what it is.
public struct EncodedContent: Sendable {
  /// The content.
  public var body: RequestBody
  /// The Content-Type field, unless request or client have one; nil for none.
  public var contentType: String?

  /// A body of this type.
  public init(_ body: RequestBody, contentType: String?) {
    self.body = body
    self.contentType = contentType
  }
}

/// Makes a value from a response's body.
public protocol BodyDecoder: Sendable {
  /// The Accept field of a request whose answer this decodes, unless request or client have one; nil for none.
  var accept: String? { get }

  /// The value in a body that isn't empty. What it throws fails the call as `HTTPError.Kind.decodingFailed`.
  func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8], headers: HTTPFields) throws -> Value
}

/// Encodes what has a text of its own (`URLValue`s, and enums over them) as plain text in UTF-8.
public struct PlainTextEncoder: BodyEncoder {
  /// An encoder.
  public init() {}

  /// The text of the value.
  /// - Throws: `EncodingError` for a value that isn't a `URLValue`.
  public func encode(_ value: some Encodable) throws -> EncodedContent {
    guard let text = (value as? any URLValue)?.urlText else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(type(of: value)) has no plain text"))
    }
    return EncodedContent(.string(text), contentType: "text/plain; charset=utf-8")
  }
}
