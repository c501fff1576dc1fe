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
  /// Where the sequence was made: a closure in it may belong to that actor, which then lives as long as the closure.
  private weak var actor: (any Actor)?

  init(_ inputs: Inputs, _ isolation: (any Actor)?) {
    iterator = inputs.makeIterator()
    actor = Self.runsNoClosure ? nil : isolation
  }

  /// Whether reading an input runs no code of the caller's: no hop for each.
  private static var runsNoClosure: Bool {
    let type = ObjectIdentifier(Inputs.self)
    return type == ObjectIdentifier([Inputs.Element].self)
      || type == ObjectIdentifier(ArraySlice<Inputs.Element>.self)
      || type == ObjectIdentifier(ContiguousArray<Inputs.Element>.self)
  }

  override func next() async throws(HTTPError) -> BatchItem? {
    guard let actor else { return read() }
    return await read(on: actor)
  }

  private func read(on actor: isolated any Actor) -> BatchItem? { read() }

  private func read() -> BatchItem? {
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
