import Synchronization

/// Hands large writes to the file's queue, with a bound on what waits there: a slow disk holds the reader, which
/// holds the network. Used by one task.
final class FileWriter: Sendable {
  private struct State: Sendable {
    /// Bytes that were handed to the queue and aren't written yet.
    var waiting = 0
    var failure: HTTPError?
    var sleeper: UnsafeContinuation<Void, Never>?
    /// Nobody waits for the disk any more: what isn't written yet need not be.
    var isStopped = false
  }

  /// One write is at least so long.
  static let writeSize = 1 << 20

  private let file: PartFile
  private let limit: Int
  private let size: Int
  private let digests: FileDigests?
  private let state = Mutex(State())
  /// Filled by the one task that writes; `flush` may empty it meanwhile.
  private let gathering: Mutex<WriteGathering>

  /// Writes from `offset` on, at least `size` bytes at a time; `digests` gets to see what was written.
  init(
    _ file: PartFile, limit: Int, size: Int = FileWriter.writeSize, offset: Int64 = 0,
    digests: FileDigests? = nil
  ) {
    self.file = file
    self.limit = max(2 * size, limit)
    self.size = size
    self.digests = digests
    gathering = Mutex(WriteGathering(size: size, offset: offset))
  }

  /// Takes a chunk; returns when the disk has caught up enough. At most `limit` and one chunk are held.
  func write(_ chunk: BodyChunk) async throws(HTTPError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    guard case .write(let batch) = gathering.withLock({ $0.add(chunk) }) else { return }
    submit(batch)
    // There must be room for what is gathered next.
    try await wait(untilWaiting: limit - size)
  }

  /// Writes what is left and waits for all of it.
  func finish() async throws(HTTPError) {
    if case .write(let batch) = gathering.withLock({ $0.rest() }) { submit(batch) }
    try await wait(untilWaiting: 0)
  }

  /// Hands on what is gathered, however little; for a slow stream, whose bytes are to reach the disk too.
  func flush() {
    if case .write(let batch) = gathering.withLock({ $0.rest() }) { submit(batch) }
  }

  /// Drops what has not been written; no write is under way afterwards.
  func stop() async {
    state.withLock { $0.isStopped = true }
    gathering.withLock { $0 = WriteGathering(size: size) }
    await sleep { $0.waiting == 0 }
  }

  private func submit(_ batch: WriteGathering.Batch) {
    state.withLock { $0.waiting += batch.count }
    file.queue.submit { self.perform(batch) }
  }

  /// On the queue.
  private func perform(_ batch: WriteGathering.Batch) {
    var failure: HTTPError?
    if state.withLock({ $0.failure == nil && !$0.isStopped }) {
      do throws(HTTPError) {
        try file.write(batch.chunks, at: batch.offset)
      } catch {
        failure = error
      }
    }
    // What a digest is still to see is held by it, and counts as waiting.
    guard failure == nil, let digests, state.withLock({ $0.failure == nil && !$0.isStopped }) else {
      return finished(batch.count, failure)
    }
    digests.wrote(batch) { self.finished(batch.count, nil) }
  }

  private func finished(_ count: Int, _ failure: HTTPError?) {
    let sleeper = state.withLock { state in
      state.waiting -= count
      if state.failure == nil { state.failure = failure }
      return state.sleeper.take()
    }
    sleeper?.resume()
  }

  private func wait(untilWaiting count: Int) async throws(HTTPError) {
    await sleep { $0.waiting <= count || $0.failure != nil }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func sleep(until isMet: @Sendable (borrowing State) -> Bool) async {
    while !state.withLock({ isMet($0) }) {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let sleeps = state.withLock { state in
          if isMet(state) { return false }
          state.sleeper = continuation
          return true
        }
        if !sleeps { continuation.resume() }
      }
    }
  }
}
