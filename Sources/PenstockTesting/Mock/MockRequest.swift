public import StreamCore

/// A request that a mock transport got, its body read.
public struct MockRequest: Sendable {
  /// The method.
  public let method: HTTPMethod
  /// The whole URL.
  public let url: String
  /// The fields, defaults of the client included.
  public let headers: HTTPFields
  /// The body, read to its end.
  public let body: [UInt8]
  /// Limits, TLS, addresses and so on.
  public let options: TransportOptions

  /// The path of the URL, still encoded; `/` where there is none.
  public var path: String { URLParts(url).path }
  /// The query of the URL, still encoded; nil where there is none.
  public var query: String? { URLParts(url).query }
  /// The body as text.
  public var text: String { String(decoding: body, as: UTF8.self) }
}

/// A URL's path and query, as they are written.
struct URLParts {
  let path: String
  let query: String?

  init(_ url: String) {
    let whole = url.prefix { $0 != "#" }
    let rest = whole.split(separator: "://", maxSplits: 1).last ?? whole
    let target = rest[(rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex)...]
    let mark = target.firstIndex(of: "?") ?? target.endIndex
    path = mark == target.startIndex ? "/" : String(target[..<mark])
    query = mark == target.endIndex ? nil : String(target[target.index(after: mark)...])
  }
}
