import Synchronization

/// Stops sending to an origin that fails: while its circuit is open, attempts throw
/// `HTTPError.Kind.circuitOpen` at once and nothing is sent. After a while a few attempts go through; when they
/// succeed, the circuit closes.
///
/// A failure is a lost connection, a passed time limit, or a status of 500 or more, unless said otherwise; what
/// the caller cancels counts as neither.
public final class CircuitBreaker: Middleware {
  /// When a circuit opens and closes.
  public struct Settings: Sendable, Hashable {
    /// How many of the last attempts count; 20.
    public var window = 20
    /// How many must have ended before it may open; 10.
    public var minimumCalls = 10
    /// The part of them that failed at which it opens; 0.5.
    public var failureRatio = 0.5
    /// How long it stays open; 5 s. Doubled each time the attempts after it fail.
    public var openTime: Duration = .seconds(5)
    /// The longest that it stays open; 60 s.
    public var longestOpenTime: Duration = .seconds(60)
    /// How many attempts try whether all is well again, and must succeed; 3.
    public var probes = 3

    /// The defaults.
    public init() {}

    /// What can't be is taken as the nearest that can.
    var sound: Settings {
      var settings = self
      settings.window = max(1, window)
      settings.minimumCalls = min(max(1, minimumCalls), settings.window)
      settings.failureRatio = failureRatio.isNaN ? 0.5 : min(max(failureRatio, 0.001), 1)
      settings.openTime = max(.zero, openTime)
      settings.longestOpenTime = max(settings.openTime, longestOpenTime)
      settings.probes = max(1, probes)
      return settings
    }
  }

  /// Above it, circuits that are closed are forgotten.
  private static let sweepCount = 4096
  /// `.attempt`.
  public let scope = MiddlewareScope.attempt
  private let settings: Settings
  private let key: GuardKey
  private let isFailure: @Sendable (RetryRule.Outcome) -> Bool
  private let observer: GuardObserver?
  private let circuits = Mutex(KeyedStates<CircuitStateMachine>())

  /// A breaker.
  ///
  /// - Parameters:
  ///   - settings: when circuits open and close.
  ///   - key: what shares a circuit.
  ///   - isFailure: which outcomes count as failures.
  ///   - observer: gets `circuit` and `refused`.
  public init(
    _ settings: Settings = Settings(), by key: GuardKey = .origin,
    isFailure: @escaping @Sendable (RetryRule.Outcome) -> Bool = CircuitBreaker.isServerFailure,
    observer: GuardObserver? = nil
  ) {
    self.settings = settings.sound
    self.key = key
    self.isFailure = isFailure
    self.observer = observer
  }

  /// Whether an outcome speaks against the server: no answer, or a status of 500 or more.
  @Sendable public static func isServerFailure(_ outcome: RetryRule.Outcome) -> Bool {
    switch outcome {
    case .head(let head): head.status.code >= 500
    case .failure(let error):
      switch error.kind {
      case .connectFailed, .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .emptyReply,
        .sendFailed, .receiveFailed, .connectionLost, .http2Framing, .http2Stream, .tlsHandshake,
        .hostNotResolved, .malformedResponse, .truncated:
        true
      default: false
      }
    }
  }

  /// The state of a key's circuit, such as "https://host:443".
  public func state(of key: String) -> CircuitState { circuits.withLock { $0[key]?.state } ?? .closed }

  /// Refuses or goes on, and counts how it ends.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    guard let key = key(request) else { return try await next(request) }
    let life = try admit(key, request, context)
    do throws(HTTPError) {
      let response = try await next(request)
      ended(.head(response.head), key, life, context.clock.now())
      return response
    } catch {
      ended(.failure(error), key, life, context.clock.now())
      throw error
    }
  }

  private func admit(
    _ key: String, _ request: Request, _ context: MiddlewareContext
  ) throws(HTTPError) -> Int {
    let now = context.clock.now()
    let (admission, change) = circuits.withLock { circuits in circuit(key, &circuits) { $0.admit(at: now) } }
    tell(change, key)
    switch admission {
    case .pass(let life): return life
    case .refuse(let wait):
      observer?(.refused(key: key))
      throw HTTPError(
        .circuitOpen, phase: .queue,
        message: "the server failed too often: nothing is sent to it for a while",
        advice: "Try again in \(max(1, wait.components.seconds)) s", method: request.method, url: request.url)
    }
  }

  /// Changes the circuit of a key.
  private func circuit<Result>(
    _ key: String, _ circuits: inout KeyedStates<CircuitStateMachine>,
    _ change: (inout CircuitStateMachine) -> Result
  ) -> Result {
    circuits.change(
      key, orMake: { CircuitStateMachine(settings) }, sweepCount: Self.sweepCount,
      isIdle: { $0.state == .closed }, change)
  }

  private func ended(
    _ outcome: RetryRule.Outcome, _ key: String, _ life: Int,
    _ now: @autoclosure () -> MonotonicInstant
  ) {
    let result = result(outcome)
    tell(circuits.withLock { $0.change(key) { $0.ended(result, life: life, at: now()) } ?? nil }, key)
  }

  private func result(_ outcome: RetryRule.Outcome) -> CircuitStateMachine.Result {
    switch outcome {
    case .head: isFailure(outcome) ? .failure : .success
    case .failure(let error): error.kind != .cancelled && isFailure(outcome) ? .failure : .neither
    }
  }

  private func tell(_ change: CircuitStateMachine.Change?, _ key: String) {
    if let change { observer?(.circuit(key: key, from: change.from, to: change.to)) }
  }
}

extension CircuitBreaker: PromptGuard {
  func enter(_ attempt: GuardedAttempt) -> GuardPass? {
    guard let key = attempt.key(key) else { return GuardPass(key: nil) }
    let life = circuits.withLock { circuits in circuit(key, &circuits) { $0.lifeIfClosed } }
    return life.map { GuardPass(key: key, life: $0) }
  }

  func ended(_ outcome: RetryRule.Outcome, _ pass: GuardPass, _ stages: PipelineStages) {
    if let key = pass.key { ended(outcome, key, pass.life, stages.clock.now()) }
  }
}
