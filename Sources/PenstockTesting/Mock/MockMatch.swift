public import StreamCore

/// Which requests a mock's answer is for.
public struct MockMatch: Sendable {
  let description: String
  let matches: @Sendable (MockRequest) -> Bool

  /// By a closure.
  public init(_ description: String = "a predicate", _ matches: @escaping @Sendable (MockRequest) -> Bool) {
    self.description = description
    self.matches = matches
  }

  /// All requests.
  public static let any = MockMatch("any request") { _ in true }

  /// Those of a URL. One that begins with `/` is compared with the path alone (and with the query, where it has one);
  /// `*` stands for one segment, `**` for the rest.
  public static func url(_ pattern: String) -> MockMatch {
    MockMatch(pattern) { request in
      guard pattern.hasPrefix("/") else { return request.url == pattern }
      let parts = pattern.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count > 1, request.query != String(parts[1]) { return false }
      return matches(request.path, String(parts[0]))
    }
  }

  /// Those of a method and a URL, as `url(_:)` compares it.
  public static func call(_ method: HTTPMethod, _ pattern: String) -> MockMatch {
    let url = url(pattern)
    return MockMatch("\(method) \(pattern)") { $0.method == method && url.matches($0) }
  }

  /// Both.
  public func and(_ other: MockMatch) -> MockMatch {
    MockMatch("\(description) and \(other.description)") { matches($0) && other.matches($0) }
  }

  private static func matches(_ path: String, _ pattern: String) -> Bool {
    let given = path.split(separator: "/")
    let wanted = pattern.split(separator: "/")
    for (index, segment) in wanted.enumerated() {
      if segment == "**" { return true }
      guard index < given.count, segment == "*" || segment == given[index] else { return false }
    }
    return given.count == wanted.count
  }
}
