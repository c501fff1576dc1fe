/// What a batch was asked for.
struct BatchSettings: Sendable {
  var limits: BatchLimits
  var order: BatchOrder
  var options: BatchOptions
  /// Whether only our own code runs in the transform, so that it can run on a loop.
  var isBuiltIn = false
  /// Whether a body that breaks off can be fetched again: the transform keeps nothing of a failed try.
  var mayRepeatTransform = false

  /// Those of a batch whose transform is ours.
  static func builtIn(
    _ limits: BatchLimits, _ order: BatchOrder, _ options: BatchOptions, repeats: Bool
  ) -> BatchSettings {
    BatchSettings(
      limits: limits, order: order, options: options, isBuiltIn: true, mayRepeatTransform: repeats)
  }

  /// The first setting that can't be.
  var invalidSetting: String? {
    if let name = limits.invalidSetting { return "limits." + name }
    if case .input(let window) = order, window < 0 { return "order.window" }
    if options.joinMemory.count < 0 { return "options.joinMemory.count" }
    return nil
  }
}

/// What an exchange told besides its result.
struct BatchFacts: Sendable {
  var verdict = BatchScheduler.Verdict.other
  /// How long its host wants to be left alone.
  var holdsHost: Duration?
  var transferred: Int64 = 0
}
