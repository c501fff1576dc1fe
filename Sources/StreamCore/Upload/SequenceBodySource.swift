/// Chunks of a caller's asynchronous sequence.
final class SequenceBodySource<S: AsyncSequence & Sendable>: BodySource, @unchecked Sendable
where S.Element: Sequence<UInt8> & Sendable {
  // Sendable: the feeder of one upload is the only one that calls it.
  private var iterator: S.AsyncIterator?
  private let phase: HTTPError.Phase
  private let failing: String

  init(
    _ sequence: S, phase: HTTPError.Phase = .request,
    failing: String = "the stream that makes the request's body failed"
  ) {
    self.iterator = sequence.makeAsyncIterator()
    self.phase = phase
    self.failing = failing
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    guard var current = iterator else { return nil }
    do {
      let element = try await current.next(isolation: nil)
      iterator = current
      return element.map { ($0 as? BodyChunk) ?? BodyChunk($0) }
    } catch {
      iterator = nil
      throw .thrown(error, or: .readFailed, phase: phase, "\(failing): \(error)")
    }
  }

  func abandon() { iterator = nil }
}
