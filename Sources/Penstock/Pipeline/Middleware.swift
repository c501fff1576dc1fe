/// A stage of one's own around a call: sees the request before it goes and the response when its head is
/// there, and may change both, answer itself, ask again, or fail.
///
/// ```swift
/// struct TraceID: Middleware {
///   func intercept(
///     _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
///   ) async throws(HTTPError) -> Response {
///     var request = request
///     request.headers["X-Trace"] = "42"
///     return try await next(request)
///   }
/// }
/// configuration.middlewares = [TraceID()]
/// ```
///
/// The first of `ClientConfiguration.middlewares` is outermost; those of the request come inside the client's.
/// The whole order, outside in: call middlewares → redirects → retry → auth → attempt middlewares (the guards)
/// → transport. A body is never read ahead: wrap it with `Response.mappingBody`.
public protocol Middleware: Sendable {
  /// Whether it surrounds the whole call, or each attempt to send it; `.call` unless said otherwise.
  var scope: MiddlewareScope { get }

  /// Handles one call or attempt.
  ///
  /// - Parameters:
  ///   - request: what is to be sent.
  ///   - context: which call and attempt it is, and how much time there is.
  ///   - next: the rest of the way. It can be called several times, one after another or at once, as far as
  ///     the request's body can be sent again; or not at all.
  /// - Returns: the response that the caller gets. A response of `next` that isn't returned is dropped, which
  ///   ends its exchange.
  /// - Throws: whatever the call shall fail with.
  func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response
}

extension Middleware {
  /// `.call`.
  public var scope: MiddlewareScope { .call }
}

/// The rest of the way, as a middleware sees it: called like a function.
public struct MiddlewareNext: Sendable {
  private let run: @Sendable (Request) async throws(HTTPError) -> Response

  /// The rest of the way as a closure, for tests of middlewares.
  public init(_ run: @escaping @Sendable (Request) async throws(HTTPError) -> Response) { self.run = run }

  /// Sends a request on; returns when its head is there.
  ///
  /// - Throws: what the call failed with.
  public func callAsFunction(_ request: Request) async throws(HTTPError) -> Response {
    try await run(request)
  }

  /// The same, as a value, for those that run several at once.
  func result(_ request: Request) async -> Result<Response, HTTPError> {
    do throws(HTTPError) {
      return .success(try await run(request))
    } catch {
      return .failure(error)
    }
  }
}

/// What a middleware surrounds.
public enum MiddlewareScope: Sendable, Hashable {
  /// The whole call: once, outside redirects, retries and auth.
  case call
  /// Each attempt: inside redirects, retries and auth, right before the transport. It sees the credentials, and
  /// answers that are then retried or redirected.
  case attempt
}
