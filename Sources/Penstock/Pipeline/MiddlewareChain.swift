/// Middlewares, one inside the other.
enum MiddlewareChain {
  static func run(
    _ middlewares: ArraySlice<any Middleware>, _ request: Request, _ context: MiddlewareContext,
    last: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    guard let first = middlewares.first else { return try await last(request) }
    let rest = middlewares.dropFirst()
    let next = MiddlewareNext { request async throws(HTTPError) in
      try await run(rest, request, context, last: last)
    }
    return try await first.intercept(request, context, next: next)
  }

  /// Runs a call's middlewares around what is inside of them, and returns the response.
  static func response(
    to request: Request, call: [any Middleware], attempt: AttemptMiddlewares, _ context: MiddlewareContext
  ) async throws(HTTPError) -> Response {
    let client = context.client
    let report = context.report
    let inside = MiddlewareNext { request async throws(HTTPError) in
      let inner = ManagedCall(inside: context, request, attemptMiddlewares: attempt)
      let run = PipelineRun(request, client: client, reportsUpload: report != nil, managed: inner)
      while true {
        switch try await run.next() {
        case .response(let response): return response
        case .event(let event): report?(event)
        }
      }
    }
    return try await run(call[...], request, context, last: inside)
  }
}
