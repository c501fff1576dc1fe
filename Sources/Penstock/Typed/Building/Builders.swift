/// Lists query items; those that are nil are left out.
@resultBuilder
public enum QueryBuilder {
  /// One item, or none.
  public static func buildExpression(_ item: QueryItem?) -> [QueryItem] { item.map { [$0] } ?? [] }
  /// Several items.
  public static func buildExpression(_ items: [QueryItem]) -> [QueryItem] { items }
  /// One after another.
  public static func buildBlock(_ parts: [QueryItem]...) -> [QueryItem] { parts.flatMap { $0 } }
  /// What an `if` without `else` gives.
  public static func buildOptional(_ part: [QueryItem]?) -> [QueryItem] { part ?? [] }
  /// The first branch.
  public static func buildEither(first part: [QueryItem]) -> [QueryItem] { part }
  /// The second branch.
  public static func buildEither(second part: [QueryItem]) -> [QueryItem] { part }
  /// What a loop gives.
  public static func buildArray(_ parts: [[QueryItem]]) -> [QueryItem] { parts.flatMap { $0 } }
}

/// A header field for `HeaderBuilder`.
public struct HeaderField: Sendable, Hashable {
  /// The name.
  public let name: String
  /// The value.
  public let value: String

  /// A field; nil where the value is nil or has no text, so that a builder leaves it out.
  public init?(_ name: String, _ value: (any URLValue)?) {
    guard let text = value?.urlText else { return nil }
    self.name = name
    self.value = text
  }
}

/// Lists header fields; those that are nil are left out.
@resultBuilder
public enum HeaderBuilder {
  /// One field, or none.
  public static func buildExpression(_ field: HeaderField?) -> HTTPFields {
    var fields = HTTPFields()
    if let field { fields.append(field.name, field.value) }
    return fields
  }
  /// Several fields.
  public static func buildExpression(_ fields: HTTPFields) -> HTTPFields { fields }
  /// One after another.
  public static func buildBlock(_ parts: HTTPFields...) -> HTTPFields { buildArray(parts) }
  /// What an `if` without `else` gives.
  public static func buildOptional(_ part: HTTPFields?) -> HTTPFields { part ?? [:] }
  /// The first branch.
  public static func buildEither(first part: HTTPFields) -> HTTPFields { part }
  /// The second branch.
  public static func buildEither(second part: HTTPFields) -> HTTPFields { part }
  /// What a loop gives.
  public static func buildArray(_ parts: [HTTPFields]) -> HTTPFields {
    var fields = HTTPFields()
    for part in parts { fields.append(contentsOf: part) }
    return fields
  }
}
