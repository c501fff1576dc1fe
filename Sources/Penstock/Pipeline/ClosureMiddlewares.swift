/// A closure that changes requests before they go.
public struct RequestProcessor: Middleware {
  /// What it surrounds.
  public let scope: MiddlewareScope
  private let process: @Sendable (inout Request) async throws(HTTPError) -> Void

  /// A processor from a closure, which may wait, and whose error fails the call.
  public init(
    scope: MiddlewareScope = .call,
    _ process: @escaping @Sendable (inout Request) async throws(HTTPError) -> Void
  ) {
    self.scope = scope
    self.process = process
  }

  /// Changes the request, then goes on.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    var request = request
    try await process(&request)
    return try await next(request)
  }
}

/// A closure that looks at responses, and may change them or fail the call, when their heads are there.
public struct ResponseInterceptor: Middleware {
  /// What it surrounds.
  public let scope: MiddlewareScope
  private let intercept: @Sendable (Response, Request) async throws(HTTPError) -> Response

  /// An interceptor from a closure: it gets the response and the request that was sent.
  public init(
    scope: MiddlewareScope = .call,
    _ intercept: @escaping @Sendable (Response, Request) async throws(HTTPError) -> Response
  ) {
    self.scope = scope
    self.intercept = intercept
  }

  /// Goes on, then hands the response to the closure.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    try await intercept(try await next(request), request)
  }
}

/// A closure that gets every failure up to the head, and may throw another one or answer in its place.
public struct FailureInterceptor: Middleware {
  private let recover: @Sendable (HTTPError, Request) async throws(HTTPError) -> Response

  /// An interceptor from a closure; it throws what the call shall fail with.
  public init(
    _ recover: @escaping @Sendable (HTTPError, Request) async throws(HTTPError) -> Response
  ) {
    self.recover = recover
  }

  /// Goes on; a failure is handed to the closure. A cancelled call stays cancelled.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    do throws(HTTPError) {
      return try await next(request)
    } catch {
      if error.kind == .cancelled { throw error }
      return try await recover(error, request)
    }
  }
}

extension Middleware where Self == RequestProcessor {
  /// A closure that changes requests before they go.
  public static func processing(
    scope: MiddlewareScope = .call,
    _ process: @escaping @Sendable (inout Request) async throws(HTTPError) -> Void
  ) -> RequestProcessor { RequestProcessor(scope: scope, process) }
}

extension Middleware where Self == ResponseInterceptor {
  /// A closure that looks at responses when their heads are there.
  public static func intercepting(
    scope: MiddlewareScope = .call,
    _ intercept: @escaping @Sendable (Response, Request) async throws(HTTPError) -> Response
  ) -> ResponseInterceptor { ResponseInterceptor(scope: scope, intercept) }
}
