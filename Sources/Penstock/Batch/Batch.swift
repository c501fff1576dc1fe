/// Many requests as one sequence of results: inputs in, results out.
///
/// ```swift
/// for try await result in client.batch(urls.map { .get($0) }, limits: .init(total: 256, perHost: 16)) {
///   switch result.result {
///   case .success(let response): print(response.status, response.body.count)
///   case .failure(let error): print(result.input, error)
///   }
/// }
/// ```
///
/// It is cold: the first `next()` begins it, and it can be iterated once. Inputs are read when there is room for
/// them, so an endless source is fine; every input that was read has exactly one result, and none is ended by the
/// failure of another (but see `BatchOptions.failsFast`). A consumer that is slow stops new exchanges; leaving the
/// loop, or cancelling its task, cancels those that run.
public struct Batch<Input: Sendable, Value: Sendable>: AsyncSequence, Sendable {
  /// What became of one input.
  public typealias Element = BatchResult<Input, Value>
  /// The sequence itself fails when reading inputs fails (after the results of those that were read), when its
  /// task is cancelled, when a limit is out of range, and when it is iterated a second time.
  public typealias Failure = HTTPError

  let run: BatchRun

  init<Inputs: Sequence>(
    _ client: Client, _ inputs: Inputs, _ isolation: (any Actor)?, _ work: BatchWork<Input, Value>,
    _ settings: BatchSettings
  ) where Inputs.Element == Input {
    let source = SequenceSource<Inputs, Value>(inputs, isolation)
    run = BatchRun(client: client, source: source, steps: work.steps, settings: settings)
  }

  init<Inputs: AsyncSequence>(
    _ client: Client, _ inputs: Inputs, _ work: BatchWork<Input, Value>, _ settings: BatchSettings
  ) where Inputs.Element == Input {
    let source = AsyncSequenceSource<Inputs, Value>(inputs)
    run = BatchRun(client: client, source: source, steps: work.steps, settings: settings)
  }

  /// The one iterator; a second one throws `HTTPError.Kind.alreadyConsumed`.
  public func makeAsyncIterator() -> Iterator { Iterator(run: run, isFirst: run.claim()) }

  /// Reads no more inputs and begins no more exchanges; those that run are waited for. What was read and hasn't
  /// begun gets a result of kind `cancelled`.
  public func drain() { run.drain() }

  /// As `drain`, and cancels what runs: each has a result of kind `cancelled`.
  public func stop() { run.stop() }

  /// Where it is now.
  public var status: BatchStatus { run.status }

  /// Ends the batch with the one who reads it.
  private final class Lease: Sendable {
    let run: BatchRun
    init(_ run: BatchRun) { self.run = run }
    deinit { run.abandon() }
  }

  /// Hands out the results.
  public struct Iterator: AsyncIteratorProtocol {
    private let lease: Lease?
    private var taken: [BatchItem] = []
    private var position = 0
    private var isOver = false

    init(run: BatchRun, isFirst: Bool) { lease = isFirst ? Lease(run) : nil }

    /// The next result, nil after the last one.
    public mutating func next() async throws(HTTPError) -> Element? {
      if position < taken.count { return handOut() }
      guard let run = lease?.run else { throw ResponseBody.alreadyConsumed }
      if isOver { return nil }
      if let name = run.invalidSetting {
        isOver = true
        throw HTTPError(
          .invalidConfiguration, phase: .queue, message: "the batch's setting \"\(name)\" is out of range")
      }
      if Task.isCancelled { run.cancelConsumer() }
      while true {
        switch run.take(giving: giveBack()) {
        case .elements(let elements):
          taken = elements
          return handOut()
        case .wait: await run.waitForResults()
        case .end(let error):
          isOver = true
          if let error { throw error }
          return nil
        }
      }
    }

    /// The next result, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> Element? {
      try await next()
    }

    /// A result that is here already; nil says nothing about later ones.
    package mutating func nextReady() -> Element? {
      if position < taken.count { return handOut() }
      guard let run = lease?.run, !isOver, case .elements(let elements) = run.take(giving: giveBack()) else {
        return nil
      }
      taken = elements
      return handOut()
    }

    private mutating func giveBack() -> [BatchItem] {
      defer {
        taken = []
        position = 0
      }
      return taken
    }

    private mutating func handOut() -> Element {
      defer { position += 1 }
      return BatchCell<Input, Value>.of(taken[position]).result
    }
  }
}
