public import FoundationEssentials

/// A value that can stand in a path segment, a query item or a header field: text, numbers, `Bool`, `UUID`, and
/// enums over them that say so (`enum Sort: String, URLValue`).
public protocol URLValue: Sendable {
  /// The value as text, not percent-encoded; nil when it can't be written, such as a number that isn't finite.
  /// Then the request throws `HTTPError.Kind.encodingFailed` before any byte is sent.
  var urlText: String? { get }
}

extension URLValue where Self: BinaryInteger {
  /// In decimal.
  public var urlText: String? { String(self) }
}

extension URLValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
  /// The shortest decimal that reads back as the same number; nil for infinities and NaN.
  public var urlText: String? { isFinite ? description : nil }
}

extension URLValue where Self: RawRepresentable, RawValue: URLValue {
  /// The raw value.
  public var urlText: String? { rawValue.urlText }
}

extension String: URLValue {
  /// The text itself.
  public var urlText: String? { self }
}
extension Substring: URLValue {
  /// The text itself.
  public var urlText: String? { String(self) }
}
extension Bool: URLValue {
  /// `true` or `false`.
  public var urlText: String? { self ? "true" : "false" }
}
extension UUID: URLValue {
  /// 36 characters, letters in upper case.
  public var urlText: String? { uuidString }
}
extension Decimal: URLValue {
  /// All digits, with a point; nil for NaN.
  public var urlText: String? { isNaN ? nil : description }
}
extension Int: URLValue {}
extension Int8: URLValue {}
extension Int16: URLValue {}
extension Int32: URLValue {}
extension Int64: URLValue {}
extension UInt: URLValue {}
extension UInt8: URLValue {}
extension UInt16: URLValue {}
extension UInt32: URLValue {}
extension UInt64: URLValue {}
extension Float: URLValue {}
extension Double: URLValue {}
