/// One input of a batch, from its source to its consumer. All that runs a batch sees only this: code that is generic
/// over inputs and values would run unspecialized for whoever imports the library, and cost as much as the exchange.
class BatchItem: @unchecked Sendable {
  // Sendable: one at a time has it: the source, the run under its lock, the worker that performs it. What came of it is
  // never changed once it is a result.
  /// Which input, counted from 0 as they were read.
  @exclusivity(unchecked) final var index = 0
  @exclusivity(unchecked) final var ticket = 0
  /// The loop whose thread has made what it holds.
  @exclusivity(unchecked) final var home = 0
  /// What is asked; nil where that can't be told, and when it is over.
  @exclusivity(unchecked) final var request: Request?
  /// What makes it the same as another.
  @exclusivity(unchecked) final var key: String?
  /// What earlier attempts left to know.
  @exclusivity(unchecked) final var history = BatchAttempts()
  @exclusivity(unchecked) final var began: MonotonicInstant?
  /// Inputs that joined.
  @exclusivity(unchecked) final var followers: [BatchItem] = []

  // What came of it.
  /// Why there is no value.
  @exclusivity(unchecked) final var failure: HTTPError?
  /// Whether what came of it counts as a failure.
  @exclusivity(unchecked) final var isFailed = false
  @exclusivity(unchecked) final var attempts = 0
  @exclusivity(unchecked) final var duration = Duration.zero
  @exclusivity(unchecked) final var isJoined = false
  /// Body bytes that are reckoned to it.
  @exclusivity(unchecked) final var bytes: Int64 = 0

  /// There is no value, for this reason.
  final func fail(_ error: HTTPError) {
    failure = error
    isFailed = true
  }

  /// Takes over what came of another, which it joined.
  func adopt(_ leader: BatchItem) {
    failure = leader.failure
    isFailed = leader.isFailed
    attempts = leader.attempts
    duration = leader.duration
    isJoined = true
  }
}

/// An item that knows what it is of.
final class BatchCell<Input: Sendable, Value: Sendable>: BatchItem, @unchecked Sendable {
  // Sendable: as the class above.
  let input: Input
  @exclusivity(unchecked) var value: Value?

  init(_ input: Input) { self.input = input }

  /// The item as what it is. All items of a run come from its source, which makes nothing else.
  static func of(_ item: BatchItem) -> BatchCell { unsafeDowncast(item, to: BatchCell.self) }

  override func adopt(_ leader: BatchItem) {
    super.adopt(leader)
    value = Self.of(leader).value
  }

  var result: BatchResult<Input, Value> {
    let outcome: Result<Value, HTTPError> =
      if let value { .success(value) } else { .failure(failure ?? .cancelled) }
    return BatchResult(
      index: index, input: input, result: outcome, attempts: attempts, duration: duration, isJoined: isJoined)
  }
}
