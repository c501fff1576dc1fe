/// One record of a stream, not yet decoded.
public struct StreamRecord: Sendable {
  /// Its bytes.
  public let bytes: BodyChunk
  /// Its number, from 1: of the line where a record is a line, blank ones counted, else of the record.
  public let number: Int64

  /// A record from its parts.
  public init(bytes: BodyChunk, number: Int64) {
    self.bytes = bytes
    self.number = number
  }
}

/// A record that can't be decoded.
public struct InvalidRecord: Error, Sendable, CustomStringConvertible {
  /// Its number, from 1; see `StreamRecord.number`.
  public let number: Int64
  /// Its bytes.
  public let bytes: BodyChunk
  /// Why, with the number.
  public let error: HTTPError

  /// The error's text; the record isn't shown.
  public var description: String { error.description }
}

/// What becomes of records that can't be decoded.
///
/// - `.throw`: the stream ends with `HTTPError.Kind.invalidRecord`, which is the default;
/// - `.skip`: they are left out;
/// - `.yield`: elements are results, and a bad record is a failure among them.
public struct InvalidRecordPolicy<Value: Sendable, Element: Sendable>: Sendable {
  let accept: @Sendable (Value) -> Element
  let reject: @Sendable (InvalidRecord) -> RecordOutcome<Element>
}

/// What becomes of a record.
enum RecordOutcome<Element: Sendable>: Sendable {
  case element(Element)
  case skip
  case fail(HTTPError)
}

extension InvalidRecordPolicy where Element == Value {
  /// The stream ends with `HTTPError.Kind.invalidRecord`.
  public static var `throw`: Self { Self(accept: { $0 }, reject: { .fail($0.error) }) }

  /// They are left out.
  public static var skip: Self { Self(accept: { $0 }, reject: { _ in .skip }) }

  /// They are left out, and shown to a closure: to count or log them.
  public static func skip(_ seen: @escaping @Sendable (InvalidRecord) -> Void) -> Self {
    Self(
      accept: { $0 },
      reject: {
        seen($0)
        return .skip
      })
  }
}

extension InvalidRecordPolicy where Element == Result<Value, InvalidRecord> {
  /// They are elements: `.failure` among `.success`.
  public static var yield: Self { Self(accept: { .success($0) }, reject: { .element(.failure($0)) }) }
}
