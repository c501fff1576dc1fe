import CurlTransport

/// How the next page is found from the one that came.
///
/// Pages that go in a circle end in `HTTPError.Kind.malformedResponse`, so that a server's mistake is no endless loop. A next page on another origin is asked for without the request's secrets.
public struct PageSteps<Page: Sendable>: Sendable {
  /// What there is to go by.
  public struct Context: Sendable {
    /// The page that came.
    public let page: Page
    /// The answer that it was in.
    public let response: RawResponse
    /// The request that it answers.
    public let request: Request
    /// Its number: 0 for the first.
    public let index: Int
    /// How many items it has.
    public let itemCount: Int
  }

  let next: @Sendable (Context) throws -> Request?

  /// By a function of your own: the next request, or nil at the end. What it throws ends the sequence.
  public init(_ next: @escaping @Sendable (Context) throws -> Request?) { self.next = next }

  /// By the Link field (RFC 8288): the target of the relation, resolved against the URL that answered.
  public static func link(relation: String = "next") -> PageSteps {
    PageSteps { context in
      let relation = relation.lowercased()
      let links = LinkHeader.links(in: context.response.headers)
      guard let link = links.first(where: { $0.relations.contains(relation) }) else { return nil }
      return try moved(context, to: link.target)
    }
  }

  /// By a URL in the page, absolute or relative; nil or empty at the end.
  public static func url(_ find: @escaping @Sendable (Page) -> String?) -> PageSteps {
    PageSteps { context in
      guard let url = find(context.page), !url.isEmpty else { return nil }
      return try moved(context, to: url)
    }
  }

  /// By a cursor in the page, put into the query; nil or empty at the end.
  public static func cursor(
    _ parameter: String, _ find: @escaping @Sendable (Page) -> String?
  ) -> PageSteps {
    PageSteps { context in
      guard let cursor = find(context.page), !cursor.isEmpty else { return nil }
      return set([QueryItem(parameter, text: cursor)], context)
    }
  }

  /// By page numbers; the end is a page without items, or with fewer than `size`.
  ///
  /// - Parameters:
  ///   - parameter: the query item that holds the number.
  ///   - first: the number of the first request, whether it says so or not.
  ///   - size: how many items a full page has, where it is known: a shorter one is the last.
  public static func number(_ parameter: String, first: Int = 1, size: Int? = nil) -> PageSteps {
    PageSteps { context in
      if context.itemCount == 0 || context.itemCount < (size ?? 0) { return nil }
      return set([QueryItem(parameter, text: String(first + context.index + 1))], context)
    }
  }

  /// By an offset, which grows by what each page had; the end is a page without items, or with fewer than `limit`.
  ///
  /// - Parameters:
  ///   - parameter: the query item that holds the offset; the first request's is 0 unless it says otherwise.
  ///   - limit: the query item and number of a page's items, where they are asked for.
  public static func offset(_ parameter: String, limit: (name: String, count: Int)? = nil) -> PageSteps {
    PageSteps { context in
      if context.itemCount == 0 || context.itemCount < (limit?.count ?? 0) { return nil }
      let query = context.request.url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
      let given = QueryText.items(query.prefix { $0 != "#" }).first { $0.name == parameter }?.value
      let offset = given.flatMap { Int($0) } ?? 0
      let (sum, overflow) = offset.addingReportingOverflow(context.itemCount)
      if overflow { return nil }
      var items = [QueryItem(parameter, text: String(sum))]
      if let limit { items.append(QueryItem(limit.name, text: String(limit.count))) }
      return set(items, context)
    }
  }

  private static func set(_ items: [QueryItem], _ context: Context) -> Request {
    var request = context.request
    request.url = QueryText.setting(items, in: request.url)
    return request
  }

  private static func moved(_ context: Context, to reference: String) throws(HTTPError) -> Request {
    var request = context.request
    let current = try CurlURL(context.response.url)
    let target: CurlURL
    do throws(HTTPError) {
      target = try CurlURL(reference, relativeTo: current)
    } catch {
      throw context.response.error(
        .malformedResponse, "the link to the next page can't be used: \(error.message)", nil)
    }
    request.url = target.text
    if target.origin != current.origin {
      if current.isSecure, !target.isSecure {
        throw context.response.error(
          .redirectRefused, "the next page is to be asked for by http, and this one came by https", nil)
      }
      for name in ["Authorization", "Cookie", "Proxy-Authorization"] + request.secretHeaders {
        request.headers.removeAll(name)
        request.withoutDefaults.insert(name)
      }
    }
    return request
  }
}
