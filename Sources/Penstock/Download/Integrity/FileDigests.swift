import StreamCore
import Synchronization

/// Digests of a file in its order, behind the writes: what is written at the front is taken from memory, what
/// was written before its turn is read back once. They run on a queue of their own, beside the writes.
final class FileDigests: Sendable {
  private struct State: ~Copyable {
    var contexts: [(Digest.Algorithm, SavableDigestContext)] = []
    /// The first byte that isn't counted yet.
    var offset: Int64 = 0
    var failure: HTTPError?
    var isStopped = false
  }

  /// How much is read back at once, so that other work gets its turn.
  private static let slice = 4 << 20
  private static let block = 256 << 10

  private let file: PartFile
  private let queue = FileQueue()
  private let algorithms: [Digest.Algorithm]
  // The contexts are used under the lock alone.
  private let state: Mutex<State>

  /// Digests of nothing yet, or as they were kept where all of them were kept at one place.
  init(
    _ algorithms: [Digest.Algorithm], file: PartFile, kept: [PartRecord.DigestState] = [], done: ByteRanges
  ) throws(HTTPError) {
    self.file = file
    self.algorithms = algorithms
    let restored = Self.restored(algorithms, kept, done)
    var contexts = restored?.contexts ?? []
    if restored == nil {
      for algorithm in algorithms {
        guard let context = SavableDigestContext(algorithm) else {
          throw HTTPError(
            .outOfResources, phase: .file, message: "the cryptographic library refuses \(algorithm.rawValue)")
        }
        contexts.append((algorithm, context))
      }
    }
    let offset = restored?.offset ?? 0
    var made = State()
    made.contexts = contexts
    made.offset = offset
    state = Mutex(made)
  }

  private static func restored(
    _ algorithms: [Digest.Algorithm], _ kept: [PartRecord.DigestState], _ done: ByteRanges
  ) -> (contexts: [(Digest.Algorithm, SavableDigestContext)], offset: Int64)? {
    guard let offset = kept.first?.offset, offset <= done.end(from: 0) else { return nil }
    var contexts: [(Digest.Algorithm, SavableDigestContext)] = []
    for algorithm in algorithms {
      guard let entry = kept.first(where: { $0.algorithm == algorithm.rawValue && $0.offset == offset }),
        let bytes = Base64Text.decode(entry.state),
        let context = SavableDigestContext(algorithm, state: bytes)
      else { return nil }
      contexts.append((algorithm, context))
    }
    return (contexts, offset)
  }

  /// What a sidecar keeps.
  var kept: [PartRecord.DigestState] {
    state.withLock { state in
      guard state.failure == nil, state.offset > 0 else { return [] }
      return state.contexts.map { algorithm, context in
        PartRecord.DigestState(
          algorithm: algorithm.rawValue, offset: state.offset, state: Base64.encode(context.state))
      }
    }
  }

  /// Chunks have been written; `done` is called when they aren't needed any more.
  func wrote(_ batch: WriteGathering.Batch, done: @escaping @Sendable () -> Void) {
    queue.submit {
      self.follow(batch)
      done()
    }
  }

  private func follow(_ batch: WriteGathering.Batch) {
    let isFront = state.withLock { state in
      guard state.failure == nil, !state.isStopped else { return true }
      let end = batch.offset + Int64(batch.count)
      guard batch.offset <= state.offset, state.offset < end else { return false }
      var position = batch.offset
      for chunk in batch.chunks {
        let next = position + Int64(chunk.count)
        defer { position = next }
        if next <= state.offset { continue }
        let rest = chunk.dropFirst(Int(state.offset - position))
        rest.withUnsafeBytes { Self.update(&state, $0) }
      }
      return batch.offset + Int64(batch.count) == state.offset
    }
    if !isFront { catchUp() }
  }

  private static func update(_ state: inout State, _ bytes: UnsafeRawBufferPointer) {
    for (algorithm, context) in state.contexts where !context.update(bytes) {
      state.failure = HTTPError(
        .outOfResources, phase: .file, message: "the cryptographic library refuses \(algorithm.rawValue)")
    }
    state.offset += Int64(bytes.count)
  }

  /// Reads back what was written before its turn, a slice of it.
  private func catchUp() {
    let start = state.withLock { $0.isStopped || $0.failure != nil ? Int64.max : $0.offset }
    guard start < .max else { return }
    let end = min(file.written.end(from: start), start + Int64(Self.slice))
    var position = start
    var buffer = [UInt8](repeating: 0, count: position < end ? Self.block : 0)
    while position < end {
      let count = min(buffer.count, Int(end - position))
      let (read, number) = file.read(into: &buffer, count: count, at: position)
      guard read > 0 else {
        let failure = HTTPError(
          .readFailed, phase: .file,
          message: "\"\(file.path)\" can't be read back: \(FileFailure.text(number))")
        state.withLock { $0.failure = failure }
        return
      }
      state.withLock { [buffer] state in
        buffer.withUnsafeBytes { Self.update(&state, UnsafeRawBufferPointer(rebasing: $0[..<read])) }
      }
      position += Int64(read)
    }
  }

  /// The digests of the first `total` bytes, all of which are written.
  func finish(total: Int64) async throws(HTTPError) -> [Digest] {
    while true {
      if Task.isCancelled { throw HTTPError.cancelled(phase: .file) }
      let (offset, failure) = try await queue.run { () throws(HTTPError) in
        if self.state.withLock({ $0.offset < total }) { self.catchUp() }
        return self.state.withLock { ($0.offset, $0.failure) }
      }
      if let failure { throw failure }
      if offset >= total { break }
    }
    let all = state.withLock { state in
      state.contexts.map { algorithm, context in
        context.finalize().flatMap { Digest(algorithm, bytes: $0) }
      }
    }
    return all.compactMap { $0 }
  }

  /// Nobody wants them any more; nothing is read back when this returns.
  func stop() async {
    state.withLock { $0.isStopped = true }
    _ = try? await queue.run { () throws(HTTPError) in }
  }
}
