public import FoundationEssentials

/// A whole answer as it came: status, fields, bytes.
public struct RawResponse: Sendable {
  /// The head.
  public let head: ResponseHead
  /// The body, content coding taken off.
  public let bytes: [UInt8]
  /// The URL that answered.
  public let url: String
  /// The redirects that led there.
  public let history: [RedirectHop]
  /// Times, connection and counters, to the end of the body.
  public let facts: ExchangeFacts
  let method: HTTPMethod

  /// The status.
  public var status: HTTPStatus { head.status }
  /// The header fields.
  public var headers: HTTPFields { head.headers }
  /// Where the time went.
  public var timings: ExchangeFacts.Timings { facts.timings }
  /// Whether the status is 200 to 299.
  public var isSuccess: Bool { status.isSuccess }
  /// The body as `Data`.
  public var data: Data { Data(bytes) }

  /// The first value of a field, in any case.
  public func header(_ name: String) -> String? { headers[name] }
  /// The first value of a field as a whole number; nil for anything else.
  public func headerInt(_ name: String) -> Int? { headers[name].flatMap { Int($0) } }
  /// The first value of a field as a number; nil for anything else.
  public func headerDouble(_ name: String) -> Double? { headers[name].flatMap { Double($0) } }

  /// The body as text, in the character set that Content-Type names, else UTF-8; what can't be read is replaced.
  ///
  /// - Throws: `HTTPError.Kind.decodingFailed` for a character set that isn't known. UTF-8, US-ASCII, ISO 8859-1,
  ///   Windows-1252 and UTF-16 are.
  public func string() throws(HTTPError) -> String {
    guard let name = headers["Content-Type"].flatMap(MediaType.init)?.parameters["charset"] else {
      return TextCharset.utf8.text(bytes)
    }
    guard let charset = TextCharset(name) else {
      throw error(
        .decodingFailed, "the character set \"\(name.prefix(40))\" isn't known", "Read the bytes instead")
    }
    return charset.text(bytes)
  }

  /// The body as JSON of any shape.
  ///
  /// - Throws: `HTTPError.Kind.decodingFailed` saying where it is broken.
  public func json() throws(HTTPError) -> JSONValue { try decode(JSONValue.self) }

  /// The body as JSON on several lines, members sorted by name; nil where it is no JSON.
  public var prettyPrintedJSON: String? { (try? json())?.prettyPrinted }

  /// The value in the body.
  ///
  /// `String`, `Data` and `[UInt8]` take the body as it is. An empty body is an empty one of these, nil for an
  /// optional type, `NoContent`, and an error for any other type.
  ///
  /// - Throws: `HTTPError.Kind.decodingFailed` with coding path, byte offset where it is known, and an excerpt.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, by decoder: any BodyDecoder = JSONCoding.standard
  ) throws(HTTPError) -> Value {
    if type == String.self, let value = try string() as? Value { return value }
    if type == [UInt8].self, let value = bytes as? Value { return value }
    if type == Data.self, let value = data as? Value { return value }
    if bytes.isEmpty {
      if let empty = (type as? any EmptyBodyValue.Type)?.emptyBody as? Value { return empty }
      throw DecodingFailureText.error(
        DecodingFailure(codingPath: "", reason: "the body is empty", byteOffset: nil, excerpt: ""),
        type: type,
        raw: self)
    }
    do {
      return try decoder.decode(type, from: bytes, headers: headers)
    } catch {
      throw DecodingFailureText.error(error, type: type, raw: self)
    }
  }

  /// Whether a value of this type is the body as it came.
  static func isTakenAsItIs(_ type: Any.Type) -> Bool {
    type == String.self || type == [UInt8].self || type == Data.self
  }

  /// Whether the body is JSON's `null`, with blanks around it or without.
  var isNull: Bool {
    guard bytes.count <= 64 else { return false }
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
    return bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed().elementsEqual("null".utf8)
  }

  /// An error about this answer, with the begin of its body.
  func error(_ kind: HTTPError.Kind, _ message: String, _ advice: String?) -> HTTPError {
    let kept = bytes.prefix(64 << 10)
    return HTTPError(
      kind, phase: .decode, message: message, advice: advice, method: method, url: url, status: status,
      received: Int64(bytes.count), mayHaveBeenProcessed: true
    ).adding {
      $0.response = ErrorResponse(
        status: status, headers: headers, body: Array(kept), isCut: kept.count < bytes.count)
    }
  }
}

/// A type that an empty body is a value of.
public protocol EmptyBodyValue {
  /// The value of an empty body.
  static var emptyBody: Self { get }
}

/// What an answer without content is, where a type is needed. Content that comes nevertheless is ignored.
public struct NoContent: Sendable, Hashable, Codable, EmptyBodyValue {
  /// Nothing.
  public init() {}
  /// Reads nothing.
  public init(from decoder: any Decoder) throws {}
  /// Nothing.
  public static let emptyBody = NoContent()
}

extension Optional: EmptyBodyValue {
  /// Nil.
  public static var emptyBody: Wrapped? { nil }
}
