/// Where inputs come from, whatever the sequence: read by one worker at a time.
class BatchSource: @unchecked Sendable {
  // Sendable: the run lets one worker at a time read, and a lock lies between two readings.
  /// The next input, nil at the end.
  func next() async throws(HTTPError) -> BatchItem? { nil }
}

final class SequenceSource<Inputs: Sequence, Value: Sendable>: BatchSource, @unchecked Sendable
where Inputs.Element: Sendable {
  // Sendable: as the class above.
  private var iterator: Inputs.Iterator

  init(_ inputs: Inputs) { iterator = inputs.makeIterator() }

  override func next() async throws(HTTPError) -> BatchItem? {
    guard let input = iterator.next() else { return nil }
    return BatchCell<Inputs.Element, Value>(input)
  }
}

final class AsyncSequenceSource<Inputs: AsyncSequence, Value: Sendable>: BatchSource, @unchecked Sendable
where Inputs.Element: Sendable {
  // Sendable: as the class above.
  private var iterator: Inputs.AsyncIterator

  init(_ inputs: Inputs) { iterator = inputs.makeAsyncIterator() }

  override func next() async throws(HTTPError) -> BatchItem? {
    do {
      guard let input = try await iterator.next(isolation: nil) else { return nil }
      return BatchCell<Inputs.Element, Value>(input)
    } catch {
      throw .thrown(error, or: .readFailed, phase: .queue, "the sequence of inputs failed: \(error)")
    }
  }
}
