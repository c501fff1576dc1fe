/// A guard that lets nearly every attempt through at once. The pipeline then doesn't call its `intercept`, which would
/// wrap the rest of the way: it enters here, and tells how the attempt ended.
protocol PromptGuard: AnyObject, Middleware {
  /// Lets an attempt through. Nil: not at once; nothing was taken, and `intercept` must see to it.
  func enter(_ attempt: GuardedAttempt) -> GuardPass?
  /// The attempt that was let through got its head, or failed.
  func ended(_ outcome: RetryRule.Outcome, _ pass: GuardPass, _ stages: PipelineStages)
  /// Whether the attempt lasts until its body has been read or dropped.
  var lastsWithBody: Bool { get }
  /// The body of an attempt that was let through was read or dropped; not called after a failure.
  func bodyEnded(_ pass: GuardPass)
}

extension PromptGuard {
  func ended(_ outcome: RetryRule.Outcome, _ pass: GuardPass, _ stages: PipelineStages) {}
  var lastsWithBody: Bool { false }
  func bodyEnded(_ pass: GuardPass) {}
}

/// An attempt that comes to its guards, and what several of them ask for.
struct GuardedAttempt {
  let request: Request
  let now: MonotonicInstant
  private let origin: String

  init(_ request: Request, _ stages: PipelineStages) {
    self.request = request
    now = stages.clock.now()
    origin = Origin.of(request.url)
  }

  func key(_ key: GuardKey) -> String? { key.isOrigin ? origin : key(request) }
}

/// What a guard must know again of an attempt that it has let through.
struct GuardPass: Sendable {
  /// Nil: the request is none of its business.
  let key: String?
  /// Of the key's circuit.
  var life = 0
}
