import Dispatch
import Synchronization

/// Gathers chunks into large writes and hands them to the file's queue, with a bound on what waits there: a slow
/// disk holds the reader, which holds the network.
final class FileWriter: Sendable {
  private struct State: Sendable {
    var waiting = 0
    var failure: HTTPError?
    var sleeper: UnsafeContinuation<Void, Never>?
    /// Nobody waits for the disk any more: what isn't written yet need not be.
    var isStopped = false
  }

  private struct Gathered: Sendable {
    var chunks: [BodyChunk] = []
    var count = 0
    var offset: Int64 = 0
  }

  /// One write is at least so long, and begins and ends at a multiple of a page.
  static let writeSize = 1 << 20
  static let page = 4096

  private let file: PartFile
  private let limit: Int
  private let state = Mutex(State())
  /// Belongs to the one task that writes.
  private let gathered = Mutex(Gathered())

  init(_ file: PartFile, limit: Int) {
    self.file = file
    self.limit = max(Self.writeSize, limit)
  }

  /// Takes a chunk; returns when the disk has caught up enough.
  func write(_ chunk: BodyChunk) async throws(HTTPError) {
    let batch = gathered.withLock { gathered -> Gathered? in
      gathered.chunks.append(chunk)
      gathered.count += chunk.count
      guard gathered.count >= Self.writeSize else { return nil }
      return Self.cut(&gathered)
    }
    if let batch { try await submit(batch) }
  }

  /// Takes whole pages out; the rest stays for the next write.
  private static func cut(_ gathered: inout Gathered) -> Gathered {
    var batch = gathered
    let rest = Int((gathered.offset + Int64(gathered.count)) % Int64(page))
    gathered.chunks = []
    gathered.count = 0
    if rest > 0, let last = batch.chunks.last, last.count > rest {
      let end = last.endIndex - rest
      batch.chunks[batch.chunks.count - 1] = last[last.startIndex..<end]
      batch.count -= rest
      gathered.chunks = [last[end...].compacted()]
      gathered.count = rest
    }
    gathered.offset = batch.offset + Int64(batch.count)
    return batch
  }

  private func submit(_ batch: Gathered) async throws(HTTPError) {
    state.withLock { $0.waiting += batch.count }
    file.queue.async { self.perform(batch) }
    await waitUntil { $0.waiting <= self.limit - Self.writeSize }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func perform(_ batch: Gathered) {
    var failure: HTTPError?
    if state.withLock({ $0.failure == nil && !$0.isStopped }) {
      do throws(HTTPError) {
        try file.write(batch.chunks, at: batch.offset)
      } catch {
        failure = error
      }
    }
    let sleeper = state.withLock { state in
      state.waiting -= batch.count
      if let failure, state.failure == nil { state.failure = failure }
      return state.sleeper.take()
    }
    sleeper?.resume()
  }

  private func waitUntil(_ isMet: @Sendable (borrowing State) -> Bool) async {
    while true {
      let met = state.withLock { isMet($0) || $0.failure != nil }
      if met { return }
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let sleeps = state.withLock { state in
          if isMet(state) || state.failure != nil { return false }
          state.sleeper = continuation
          return true
        }
        if !sleeps { continuation.resume() }
      }
    }
  }

  /// Writes what is left and waits for all of it.
  func finish() async throws(HTTPError) {
    let rest = gathered.withLock { gathered in
      defer { gathered = Gathered() }
      return gathered
    }
    if rest.count > 0 {
      state.withLock { $0.waiting += rest.count }
      file.queue.async { self.perform(rest) }
    }
    await waitUntil { $0.waiting == 0 }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Drops what has not been written.
  func stop() async {
    state.withLock { $0.isStopped = true }
    gathered.withLock { $0 = Gathered() }
    await waitUntil { $0.waiting == 0 }
  }
}
