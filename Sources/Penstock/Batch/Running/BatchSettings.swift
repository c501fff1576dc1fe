/// What a batch was asked for.
struct BatchSettings<Value: Sendable>: Sendable {
  var limits: BatchLimits
  var order: BatchOrder
  var options: BatchOptions
  /// Whether only our own code runs in the transform, so that it can run on a loop.
  var isBuiltIn = false
  /// Whether a body that breaks off can be fetched again: the transform keeps nothing of a failed try.
  var mayRepeatTransform = false
  /// Values that count as failures for `failsFast` and joining.
  var isFailure: (@Sendable (Value) -> Bool)?

  /// The first setting that can't be.
  var invalidSetting: String? {
    if let name = limits.invalidSetting { return "limits." + name }
    if case .input(let window) = order, window < 0 { return "order.window" }
    if options.joinMemory.count < 0 { return "options.joinMemory.count" }
    return nil
  }
}

/// What a transform made, and how many bytes of a body it holds.
struct BatchProduct<Value: Sendable>: Sendable {
  let value: Value
  var bytes: Int64 = 0
}

/// What an exchange told besides its result.
struct BatchFacts: Sendable {
  var verdict = BatchScheduler.Verdict.other
  /// How long its host wants to be left alone.
  var holdsHost: Duration?
  var transferred: Int64 = 0
}

/// What a batch does with one input: its request, what makes it the same as another, and what comes of it.
struct BatchWork<Input: Sendable, Value: Sendable>: Sendable {
  enum Exchange: Sendable {
    /// The request is sent, and this gets the response.
    case transform(@Sendable (Input, Response) async throws(HTTPError) -> BatchProduct<Value>)
    /// This sends the request by its own way, and tells what its host made of it.
    case whole(@Sendable (Input, Request) async throws(HTTPError) -> (BatchProduct<Value>, BatchFacts))
  }

  let request: @Sendable (Input) throws(HTTPError) -> Request
  var joinKey: @Sendable (Input, Request) -> String? = { _, request in BatchJoining<Value>.key(request) }
  let exchange: Exchange
}
