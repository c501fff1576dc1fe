import Penstock

/// `'Name: value'`, `Name:` and `Name;`. Messages never show a value: it may be a secret.
enum HeaderValue {
  static func parse(_ text: String) throws(UsageError) -> Settings.HeaderOperation {
    guard let colon = text.firstIndex(of: ":") else {
      guard text.hasSuffix(";") else {
        throw UsageError("a header is 'Name: value', 'Name:' (not sent) or 'Name;' (sent empty)")
      }
      return .empty(name: try name(text.dropLast()))
    }
    let name = try name(text[..<colon])
    let value = FieldSyntax.trimmed(text[text.index(after: colon)...])
    if value.isEmpty { return .remove(name: name) }
    return .add(name: name, value: try check(value, of: name))
  }

  /// A value given on its own, for the header that an option stands for.
  static func check(_ value: String, of name: String) throws(UsageError) -> String {
    guard value.utf8.allSatisfy(FieldSyntax.isValueByte) else {
      throw UsageError("the value of \(name) holds a CR, LF or NUL")
    }
    return value
  }

  private static func name(_ text: Substring) throws(UsageError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy(FieldSyntax.isTokenByte) else {
      throw UsageError("\(UsageError.quote(String(text))) is not a header name")
    }
    return String(text)
  }
}
