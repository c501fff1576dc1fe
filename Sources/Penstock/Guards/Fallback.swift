/// What takes the place of a call that failed, after all its retries: other requests, one after another, or an
/// answer of one's own.
///
/// ```swift
/// Fallback([.request { $0.url = "https://mirror" + path }, .response { _ in staleCopy }])
/// ```
public struct Fallback: Middleware {
  /// One thing to fall back on.
  public enum Step: Sendable {
    /// Another request, made from the one that failed. Think of the secrets in its fields when it goes to
    /// another host: they are sent as they are.
    case request(@Sendable (inout Request) -> Void)
    /// An answer; nil leaves it to the next step.
    case response(@Sendable (Request) async -> Response?)
  }

  private let steps: [Step]
  private let applies: @Sendable (RetryRule.Outcome) -> Bool
  private let observer: GuardObserver?

  /// A fallback.
  ///
  /// - Parameters:
  ///   - steps: tried in order until one does well; else the last outcome stands.
  ///   - applies: which outcomes are fallen back from; those that `CircuitBreaker.isServerFailure` names and an
  ///     open circuit unless said otherwise. Cancelled calls never are.
  ///   - observer: gets `fellBack`.
  public init(
    _ steps: [Step],
    when applies: @escaping @Sendable (RetryRule.Outcome) -> Bool = Fallback.isWorthIt,
    observer: GuardObserver? = nil
  ) {
    self.steps = steps
    self.applies = applies
    self.observer = observer
  }

  /// Whether an outcome speaks against the server, or its circuit is open.
  @Sendable public static func isWorthIt(_ outcome: RetryRule.Outcome) -> Bool {
    if case .failure(let error) = outcome, error.kind == .circuitOpen { return true }
    return CircuitBreaker.isServerFailure(outcome)
  }

  /// Goes on; where that fails, takes the steps.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    var result = await next.result(request)
    for (index, step) in steps.enumerated() {
      guard isBad(result) else { break }
      switch step {
      case .request(let change):
        guard request.body.isEmpty || request.body.isReplayable else { continue }
        var other = request
        change(&other)
        Self.discard(result)
        observer?(.fellBack(index))
        result = await next.result(other)
      case .response(let answer):
        guard let response = await answer(request) else { continue }
        Self.discard(result)
        observer?(.fellBack(index))
        return response
      }
    }
    return try result.get()
  }

  private func isBad(_ result: Result<Response, HTTPError>) -> Bool {
    switch result {
    case .success(let response): applies(.head(response.head))
    case .failure(let error): error.kind != .cancelled && applies(.failure(error))
    }
  }

  private static func discard(_ result: Result<Response, HTTPError>) {
    if case .success(let response) = result { response.discard() }
  }

}
