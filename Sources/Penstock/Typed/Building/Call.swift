/// A call under construction: a value, so that branches share what they have in common and change what they like.
///
/// ```swift
/// let users = client.path("users").header("X-Trace", trace)
/// let user: User = try await users.path(42).query("expand", "teams").get().value()
/// try await users.path(42).delete().send()
/// ```
///
/// Nothing is sent before one of the methods that await: `value`, `response`, `raw`, `send`, `string`, … What can't be
/// built (a `..` in a segment, a value without text, a wrong base URL) throws there, before any byte is sent, naming it.
public struct Call: Sendable {
  /// The client that it goes through.
  public let client: Client
  var plan = CallPlan()

  init(_ client: Client) { self.client = client }

  /// A copy with something changed.
  func with(_ change: (inout CallPlan) -> Void) -> Call {
    var copy = self
    change(&copy.plan)
    return copy
  }

  /// The request that this call sends, for looking at it or for sending it by `Client.send`, `events` or `download`.
  ///
  /// - Throws: `HTTPError.Kind.invalidURL`, `encodingFailed`, `invalidMethod` or `invalidConfiguration`, naming what
  ///   can't be.
  public func request() throws(HTTPError) -> Request { try plan.request(client) }
}

extension Call {
  /// Adds path segments, percent-encoded. Slashes separate, unless they are kept; those at the ends count for nothing.
  public func path(_ segments: any URLValue..., slashes: PathSlashes = .split) -> Call {
    with { plan in for segment in segments { plan.path.append(segment, slashes: slashes) } }
  }

  /// Adds the path of a template (RFC 6570, levels 1 to 3): `path("/users/{id}{?page}", ["id": 7, "page": nil])`.
  ///
  /// A variable without a value fails the call, naming it; nil leaves it out.
  public func path(_ template: String, _ values: [String: (any URLValue)?]) -> Call {
    path(RequestPath(template: template, values))
  }

  /// Adds a path with typed values in it.
  public func path(_ path: RequestPath) -> Call {
    with { plan in
      plan.path.append(path.path)
      plan.query += path.query.map { .item($0) }
    }
  }

  /// Adds path segments: `users("42", "files")` is `users.path("42", "files")`.
  public func callAsFunction(_ segments: any URLValue...) -> Call {
    with { plan in for segment in segments { plan.path.append(segment) } }
  }

  /// Begins anew at another URL, absolute; headers, query and all else stay. Its path and query are taken as written.
  public func absolute(url: String) -> Call {
    with { plan in
      plan.absoluteURL = url
      plan.path = PathText()
    }
  }

  /// Ends the path in a slash, for servers that tell `/users/` from `/users`.
  public func trailingSlash() -> Call { with { $0.path.endsInSlash = true } }

  /// Sets the method. CONNECT is refused when the call is made.
  public func method(_ method: HTTPMethod) -> Call { with { $0.method = method } }

  /// GET.
  public func get() -> Call { method(.get) }
  /// HEAD.
  public func head() -> Call { method(.head) }
  /// POST, with the body that is set.
  public func post() -> Call { method(.post) }
  /// POST of a value.
  public func post(_ value: some Encodable & Sendable) -> Call { method(.post).body(value) }
  /// PUT, with the body that is set.
  public func put() -> Call { method(.put) }
  /// PUT of a value.
  public func put(_ value: some Encodable & Sendable) -> Call { method(.put).body(value) }
  /// PATCH, with the body that is set.
  public func patch() -> Call { method(.patch) }
  /// PATCH with a value.
  public func patch(_ value: some Encodable & Sendable) -> Call { method(.patch).body(value) }
  /// DELETE.
  public func delete() -> Call { method(.delete) }
  /// OPTIONS.
  public func options() -> Call { method(.options) }
  /// TRACE.
  public func trace() -> Call { method(.trace) }
}
