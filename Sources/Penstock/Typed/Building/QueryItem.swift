/// One item of a query: a name and a value, neither percent-encoded.
public struct QueryItem: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The value; nil writes the name alone, without `=`.
  public var value: String?
  /// A value that can't be written: it fails the request.
  var unwritable: String?
  /// The bytes that the value was made of, for forms that can take them as they are.
  var bytes: [UInt8]?

  /// A name and a value.
  public init(_ name: String, text value: String?) {
    self.name = name
    self.value = value
  }

  /// A name alone.
  public init(_ name: String) { self.init(name, text: nil) }

  /// A name and a value; nil where the value is nil, so that a builder leaves it out. One that can't be written
  /// fails the request with `HTTPError.Kind.encodingFailed`.
  public init?(_ name: String, _ value: (any URLValue)?) {
    guard let value else { return nil }
    self.init(name, text: value.urlText)
    if self.value == nil { unwritable = "\(value)" }
  }
}

/// Queries as text.
enum QueryText {
  /// The items as they stand behind `?`.
  static func text(_ items: [QueryItem]) -> String {
    items.map { item in
      let name = PercentEncoder.encode(item.name)
      return item.value.map { "\(name)=\(PercentEncoder.encode($0))" } ?? name
    }.joined(separator: "&")
  }

  /// The items of a query as it stands behind `?`. A plus is a plus.
  static func items(_ text: some StringProtocol) -> [QueryItem] {
    text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return QueryItem(
        PercentEncoder.decode(parts[0]), text: parts.count > 1 ? PercentEncoder.decode(parts[1]) : nil)
    }
  }

  /// A URL with items added behind its query, and its fragment where it was.
  static func adding(_ items: [QueryItem], to url: String) -> String {
    guard !items.isEmpty else { return url }
    let end = url.firstIndex(of: "#") ?? url.endIndex
    let head = url[..<end]
    let joint = !head.contains("?") ? "?" : head.hasSuffix("?") || head.hasSuffix("&") ? "" : "&"
    return head + joint + text(items) + url[end...]
  }

  /// A URL in whose query these names have these values alone: in place of the first item of that name, else at
  /// the end. The text of all other items stays as it is.
  static func setting(_ items: [QueryItem], in url: String) -> String {
    var rest = items
    let end = url.firstIndex(of: "#") ?? url.endIndex
    guard let mark = url[..<end].firstIndex(of: "?") else { return adding(items, to: url) }
    var parts: [String] = []
    for part in url[url.index(after: mark)..<end].split(separator: "&") {
      let name = PercentEncoder.decode(part.prefix { $0 != "=" })
      guard items.contains(where: { $0.name == name }) else {
        parts.append(String(part))
        continue
      }
      let replacing = rest.filter { $0.name == name }
      if !replacing.isEmpty { parts.append(text(replacing)) }
      rest.removeAll { $0.name == name }
    }
    if !rest.isEmpty { parts.append(text(rest)) }
    return url[..<mark] + (parts.isEmpty ? "" : "?") + parts.joined(separator: "&") + url[end...]
  }
}
