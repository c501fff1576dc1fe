/// Which call and attempt a middleware is at.
public struct MiddlewareContext: Sendable {
  let client: Client
  /// 1 for the first sending of the call; always 1 for a call middleware.
  public let attempt: Int
  /// Redirects followed so far; always 0 for a call middleware.
  public let hop: Int
  /// When the call must be over, by the total time limit or a `Deadline`; nil without one.
  public var deadline: ContinuousClock.Instant? { limit.map { ContinuousClock.Instant($0) } }
  let limit: MonotonicInstant?
  /// Tells whoever reads `client.events` what happens; nil where nobody does.
  let report: (@Sendable (TransferEvent) -> Void)?

  /// The client's settings.
  public var configuration: ClientConfiguration { client.configuration }
  /// Time and chance.
  package var clock: PipelineClock { client.stages.clock }
  /// How much time is left; nil without a limit.
  public var timeLeft: Duration? { limit.map { max(.zero, $0 - clock.now()) } }

  /// Waits, as far as there is time.
  ///
  /// - Parameter reason: what is waited for, for the error.
  /// - Throws: `HTTPError.Kind.admissionTimeout` at once when the wait would pass the deadline, and
  ///   `HTTPError.cancelled`.
  func wait(_ duration: Duration, for reason: String, _ request: Request) async throws(HTTPError) {
    guard duration > .zero else { return }
    if let timeLeft, duration > timeLeft {
      throw HTTPError(
        .admissionTimeout, phase: .queue,
        message: "there isn't the time to wait for \(reason)",
        advice: "Raise the total limit of time, or send fewer requests", method: request.method,
        url: request.url)
    }
    try await clock.wait(duration, method: request.method, url: request.url)
  }
}
