/// Where inputs come from, whatever the sequence: read by one worker at a time.
class BatchSource<Input: Sendable>: @unchecked Sendable {
  // Sendable: the run lets one worker at a time read, and a lock lies between two readings.
  /// The next input, nil at the end.
  func next() async throws(HTTPError) -> Input? { nil }
}

final class SequenceSource<Inputs: Sequence>: BatchSource<Inputs.Element>, @unchecked Sendable
where Inputs.Element: Sendable {
  // Sendable: as the class above.
  private var iterator: Inputs.Iterator

  init(_ inputs: Inputs) { iterator = inputs.makeIterator() }

  override func next() async throws(HTTPError) -> Inputs.Element? { iterator.next() }
}

final class AsyncSequenceSource<Inputs: AsyncSequence>: BatchSource<Inputs.Element>, @unchecked Sendable
where Inputs.Element: Sendable {
  // Sendable: as the class above.
  private var iterator: Inputs.AsyncIterator

  init(_ inputs: Inputs) { iterator = inputs.makeAsyncIterator() }

  override func next() async throws(HTTPError) -> Inputs.Element? {
    do {
      return try await iterator.next(isolation: nil)
    } catch {
      throw .thrown(error, or: .readFailed, phase: .queue, "the sequence of inputs failed: \(error)")
    }
  }
}
