import Penstock

/// What the README shows of retries, middlewares and guards compiles.
enum ReadmeSnippets {
  private struct Meter: Sendable { func add(_ count: Int) {} }

  private struct TraceID: Middleware {
    let meter = Meter()

    func intercept(
      _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
    ) async throws(HTTPError) -> Response {
      var request = request
      request.headers["X-Trace"] = "42"
      let response = try await next(request)
      return response.inspectingBody { chunk in meter.add(chunk.count) }
    }
  }

  static func retries() async throws {
    var configuration = ClientConfiguration()
    configuration.retry = RetryPolicy(limit: 3)
    configuration.retry?.totalTime = .seconds(30)
    configuration.retry?.rules = [.statuses([429], limit: 5)] + RetryRule.standard
    let client = Client(configuration: configuration)
    var order = Request.post("https://host/orders", body: .string("…"))
    order.retry = RetryPolicy()
    order.retry?.methods = .all
    _ = try await client.send(order)
    for try await event in client.events(.get("https://host/")) {
      if case .retry(let retry) = event {
        print("attempt \(retry.number) in \(retry.delay): \(retry.reason)")
      }
    }
  }

  static func guards(_ request: inout Request) async throws {
    var configuration = ClientConfiguration()
    configuration.middlewares = [TraceID(), .processing { $0.headers["X-App"] = "1" }]
    request.middlewares = [.intercepting { response, _ in response }]
    configuration.middlewares += [
      .sharing(replay: .seconds(2)), Fallback([.request { $0.url = "https://mirror/" }]),
      RateLimit(perSecond: 50, burst: 10), ConcurrencyLimit(8, by: .field("X-Tenant")),
      CircuitBreaker(observer: { print($0) }), Hedging(), .collectingBody(upTo: .mebibytes(1)),
    ]
    let client = Client(configuration: configuration)
    try await Deadline.with(.seconds(2)) {
      let user = try await client.send(.get("https://api/user"))
      _ = user.status
    }
  }
}
