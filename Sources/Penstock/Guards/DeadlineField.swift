/// Tells the server how much time a call has left, in a header field with whole milliseconds, so that it can stop
/// work that nobody waits for. Requests without a limit don't get the field.
public struct DeadlineField: Middleware {
  /// `.attempt`: each attempt says what is left then.
  public let scope = MiddlewareScope.attempt
  private let name: String

  /// A field of this name; there is no standard one.
  public init(_ name: String = "X-Request-Timeout-Ms") { self.name = name }

  /// Adds the field, then goes on.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    guard let left = context.timeLeft else { return try await next(request) }
    var request = request
    request.headers[name] = String(max(1, Int64(left / .milliseconds(1))))
    return try await next(request)
  }
}
