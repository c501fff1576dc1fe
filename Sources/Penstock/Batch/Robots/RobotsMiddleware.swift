/// Heeds robots.txt (RFC 9309) in every call of a client: what a host forbids fails with
/// `HTTPError.Kind.robotsDisallowed` before it is asked for, and crawl delays are waited for.
///
/// ```swift
/// configuration.middlewares = [RobotsMiddleware(RobotsPolicy(agent: "MyCrawler"))]
/// ```
///
/// A batch has `BatchOptions.robots` instead, where a host that wants time gives its place to others.
public struct RobotsMiddleware: Middleware {
  private let policy: RobotsPolicy

  /// By this policy.
  public init(_ policy: RobotsPolicy) { self.policy = policy }

  /// Asks the host's robots.txt, waits, and goes on.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    let gate = RobotsGate(policy, client: context.client)
    if let delay = try await gate.admit(request.url), let (origin, _) = RobotsGate.parts(of: request.url) {
      let wait = policy.cache.turn(of: origin, every: delay, now: context.clock.now())
      try await context.wait(wait, for: "the crawl delay of this host", request)
    }
    return try await next(request)
  }
}
