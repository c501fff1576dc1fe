/// Makes a request's body from a value.
///
/// ```swift
/// struct XMLEncoding: BodyEncoder {
///   func encode(_ value: some Encodable) throws -> RequestBody {
///     .bytes(try XML.encode(value)).typed("application/xml")
///   }
/// }
/// client.path("orders").bodyEncoder(XMLEncoding()).post(order)
/// ```
public protocol BodyEncoder: Sendable {
  /// The body of a value, with its content type (`RequestBody.typed`). What it throws fails the request as
  /// `HTTPError.Kind.encodingFailed`, before any byte is sent.
  func encode(_ value: some Encodable) throws -> RequestBody
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
  public func encode(_ value: some Encodable) throws -> RequestBody {
    guard let text = (value as? any URLValue)?.urlText else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(type(of: value)) has no plain text"))
    }
    return RequestBody.string(text).typed("text/plain; charset=utf-8")
  }
}

/// Encodes a model's properties as a form (`application/x-www-form-urlencoded`), by the rules of a query encoding.
public struct FormEncoder: BodyEncoder {
  /// How values become fields.
  public var encoding: QueryEncoding

  /// An encoder of these rules.
  public init(_ encoding: QueryEncoding = .standard) { self.encoding = encoding }

  /// The form.
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be written.
  public func encode(_ value: some Encodable) throws -> RequestBody {
    .form(try encoding.items(value).map { ($0.name, $0.value ?? "") })
  }
}

/// Encodes a model's properties as a form of parts (`multipart/form-data`), by the rules of a query encoding; `Data` goes
/// as a file that is called like its property.
public struct MultipartEncoder: BodyEncoder {
  /// How values become parts.
  public var encoding: QueryEncoding

  /// An encoder of these rules.
  public init(_ encoding: QueryEncoding = .standard) { self.encoding = encoding }

  /// The form.
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be written.
  public func encode(_ value: some Encodable) throws -> RequestBody {
    let items = try encoding.items(value)
    return .multipart(
      MultipartForm {
        for item in items {
          if let bytes = item.bytes {
            MultipartForm.Part.file(item.name, fileName: item.name, bytes: bytes)
          } else {
            MultipartForm.Part.value(item.name, item.value ?? "")
          }
        }
      })
  }
}
