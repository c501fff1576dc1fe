public import FoundationEssentials

/// JSON as an API writes it: names, dates, data. A value; made once and used for any number of calls at once.
///
/// ```swift
/// var configuration = ClientConfiguration()
/// configuration.api.coding(.webAPI)                       // both ways
/// let call = client.path("events").encoding(.unixSeconds)    // this way out only
/// ```
public struct JSONCoding: BodyEncoder, BodyDecoder {
  /// How names are written and read.
  public enum Keys: Sendable {
    /// As the properties are called.
    case asWritten
    /// `createdAt` is `created_at` on the wire.
    case snakeCase
    /// The first makes the wire's name of a property's, the second a property's of the wire's.
    case custom(@Sendable (String) -> String, @Sendable (String) -> String)
  }

  /// How dates are written and read.
  public enum Dates: Sendable {
    /// As Foundation does by itself: seconds since 2001.
    case foundation
    /// By a form.
    case form(DateForm)
  }

  private let encoder: JSONEncoder
  let decoder: JSONDecoder
  /// The type that bodies are marked with and answers are asked for in; `application/json`.
  public var contentType = "application/json"

  /// - Parameters:
  ///   - keys: how names are written and read.
  ///   - dates: how dates are written and read.
  ///   - sortsKeys: whether members are sorted, so that equal values are equal bytes.
  ///   - configure: sets what else Foundation's coders know. They must not be kept or changed later.
  public init(
    keys: Keys = .asWritten, dates: Dates = .foundation, sortsKeys: Bool = false,
    configure: (JSONEncoder, JSONDecoder) -> Void = { _, _ in }
  ) {
    encoder = JSONEncoder()
    decoder = JSONDecoder()
    encoder.outputFormatting = sortsKeys ? [.sortedKeys, .withoutEscapingSlashes] : .withoutEscapingSlashes
    switch keys {
    case .asWritten: break
    case .snakeCase:
      encoder.keyEncodingStrategy = .convertToSnakeCase
      decoder.keyDecodingStrategy = .convertFromSnakeCase
    case .custom(let write, let read):
      encoder.keyEncodingStrategy = .custom { Key($0.last, write) }
      decoder.keyDecodingStrategy = .custom { Key($0.last, read) }
    }
    if case .form(let form) = dates { Self.apply(form, encoder, decoder) }
    configure(encoder, decoder)
  }

  private static func apply(_ form: DateForm, _ encoder: JSONEncoder, _ decoder: JSONDecoder) {
    switch form {
    case .unixSeconds:
      encoder.dateEncodingStrategy = .secondsSince1970
      decoder.dateDecodingStrategy = .secondsSince1970
    case .unixMilliseconds:
      encoder.dateEncodingStrategy = .millisecondsSince1970
      decoder.dateDecodingStrategy = .millisecondsSince1970
    default:
      encoder.dateEncodingStrategy = .custom { date, encoder in
        var container = encoder.singleValueContainer()
        try container.encode(form.text(date))
      }
      decoder.dateDecodingStrategy = .custom { decoder in
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let date = form.date(text) else {
          throw DecodingError.dataCorruptedError(
            in: container,
            debugDescription: "\"\(text.prefix(40))\" isn't a date of the form that is expected")
        }
        return date
      }
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(_ key: (any CodingKey)?, _ convert: (String) -> String) {
      intValue = key?.intValue
      let name = key?.stringValue ?? ""
      stringValue = intValue == nil ? convert(name) : name
    }
    init?(stringValue: String) {
      self.stringValue = stringValue
      intValue = nil
    }
    init?(intValue: Int) {
      stringValue = String(intValue)
      self.intValue = intValue
    }
  }

  /// A date form, names as they are.
  public init(dates: DateForm, keys: Keys = .asWritten) { self.init(keys: keys, dates: .form(dates)) }

  /// Foundation's defaults.
  public static let standard = JSONCoding()
  /// Names in snake case.
  public static let snakeCase = JSONCoding(keys: .snakeCase)
  /// Dates in ISO 8601, fractions read but not written.
  public static let iso8601 = JSONCoding(dates: .iso8601)
  /// Dates in ISO 8601 with milliseconds.
  public static let iso8601WithFractions = JSONCoding(dates: .iso8601WithFractions)
  /// Dates in seconds since 1970.
  public static let unixSeconds = JSONCoding(dates: .unixSeconds)
  /// Dates in milliseconds since 1970.
  public static let unixMilliseconds = JSONCoding(dates: .unixMilliseconds)
  /// What most web APIs write: names in snake case, dates in ISO 8601.
  public static let webAPI = JSONCoding(dates: .iso8601, keys: .snakeCase)
  /// Names in snake case, dates in ISO 8601 with milliseconds.
  public static let webAPIWithFractions = JSONCoding(dates: .iso8601WithFractions, keys: .snakeCase)

  /// Dates by a pattern of your own, such as `"yyyy-MM-dd"`; see `DatePattern`.
  public static func dates(format: String) -> JSONCoding { JSONCoding(dates: .format(format)) }

  /// The Accept field: the type that bodies are marked with.
  public var accept: String? { contentType }

  /// The value as JSON.
  public func encode(_ value: some Encodable) throws -> RequestBody {
    RequestBody.bytes(Array(try encoder.encode(value))).typed(contentType)
  }

  /// The value in a JSON text.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], headers: HTTPFields
  ) throws -> Value {
    try body.withUnsafeBytes { try decoder.decode(type, lent: $0) }
  }
}

extension BodyEncoder where Self == JSONCoding {
  /// JSON of this kind.
  public static func json(_ coding: JSONCoding = .standard) -> JSONCoding { coding }
}
extension BodyDecoder where Self == JSONCoding {
  /// JSON of this kind.
  public static func json(_ coding: JSONCoding = .standard) -> JSONCoding { coding }
}
extension BodyEncoder where Self == FormEncoder {
  /// A form of these rules.
  public static func form(_ encoding: QueryEncoding = .standard) -> FormEncoder { FormEncoder(encoding) }
}
extension BodyEncoder where Self == MultipartEncoder {
  /// A form of parts of these rules.
  public static func multipart(_ encoding: QueryEncoding = .standard) -> MultipartEncoder {
    MultipartEncoder(encoding)
  }
}
extension BodyEncoder where Self == PlainTextEncoder {
  /// Plain text.
  public static var plainText: PlainTextEncoder { PlainTextEncoder() }
}
