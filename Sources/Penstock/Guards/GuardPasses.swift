/// The guards that have let an attempt through at once, outside in.
final class GuardPasses: Sendable {
  private let guards: [any PromptGuard]
  /// One for each of the first of them.
  private let passes: [GuardPass]
  private let stages: PipelineStages
  /// Whether one of them waits for the end of the body.
  let lastWithBody: Bool

  /// Enters as many of the guards as let the attempt through.
  init(_ guards: [any PromptGuard], _ request: Request, _ stages: PipelineStages) {
    self.guards = guards
    self.stages = stages
    let attempt = GuardedAttempt(request, stages)
    var passes: [GuardPass] = []
    passes.reserveCapacity(guards.count)
    var lastWithBody = false
    for each in guards {
      guard let pass = each.enter(attempt) else { break }
      passes.append(pass)
      if each.lastsWithBody { lastWithBody = true }
    }
    self.passes = passes
    self.lastWithBody = lastWithBody
  }

  var count: Int { passes.count }

  /// The head came, or the attempt failed without one.
  func ended(_ outcome: RetryRule.Outcome) {
    for index in passes.indices.reversed() { guards[index].ended(outcome, passes[index], stages) }
  }

  /// After the head: the body was read or dropped.
  func bodyEnded() {
    for index in passes.indices.reversed() where guards[index].lastsWithBody {
      guards[index].bodyEnded(passes[index])
    }
  }
}
