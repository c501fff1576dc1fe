/// Reads each response's whole body before the response is handed on, so that a body which is lost on its way
/// counts as a failed attempt: under a retry policy the request is then made anew. For small answers; nothing of
/// them was handed out before, so nothing can come twice.
///
/// ```swift
/// var request = Request.get("https://host/report.json")
/// request.retry = RetryPolicy()
/// request.middlewares = [.collectingBody(upTo: .mebibytes(4))]
/// ```
public struct BodyCollector: Middleware {
  /// `.attempt`: inside the retries.
  public let scope = MiddlewareScope.attempt
  private let limit: ByteCount

  /// A collector.
  ///
  /// - Parameter limit: the largest body; a larger one throws `HTTPError.Kind.bodyTooLarge`, which isn't retried.
  public init(upTo limit: ByteCount) { self.limit = limit }

  /// Goes on, then reads the body.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    let response = try await next(request)
    do throws(HTTPError) {
      return response.replacingBody(ResponseBody(try await response.body.collect(upTo: limit)))
    } catch {
      throw error.naming(method: request.method, url: request.url).maybeProcessed()
    }
  }
}

extension Middleware where Self == BodyCollector {
  /// Reads whole bodies within each attempt, so that lost ones are retried; see `BodyCollector`.
  public static func collectingBody(upTo limit: ByteCount) -> BodyCollector { BodyCollector(upTo: limit) }
}
