import StreamCore
import Dispatch
import Penstock
import Synchronization

/// An output that may be slow: writes happen on a queue of their own, never on the few threads that run tasks.
/// Pieces keep their order and are never mixed; what comes while a write runs goes out with the next one.
final class QueuedOutput: Sendable {
  private struct State: Sendable {
    var queue = OutputQueue()
    var sleepers: [UnsafeContinuation<Void, Never>] = []
    var onFailure: (@Sendable () -> Void)?
  }

  private let writer: DescriptorWriter
  private let thread = DispatchQueue(label: "penstock.output", qos: .userInitiated)
  private let state = Mutex(State())

  init(_ writer: DescriptorWriter = .standardOutput) { self.writer = writer }

  /// Why nothing can be written any more.
  var failure: OutputError? { state.withLock { $0.queue.failure } }

  /// Called once, when writing has failed: what is written for may be waiting for its next byte.
  func onFailure(_ act: @escaping @Sendable () -> Void) {
    let hasFailed = state.withLock { state in
      if state.queue.failure == nil { state.onFailure = act }
      return state.queue.failure != nil
    }
    if hasFailed { act() }
  }

  func write(_ text: String) async throws(OutputError) { try await write(.bytes(Array(text.utf8))) }
  func write(_ bytes: [UInt8]) async throws(OutputError) { try await write(.bytes(bytes)) }
  func write(_ chunk: BodyChunk) async throws(OutputError) { try await write(.chunk(chunk)) }

  /// Returns when there is room for more. A failure is thrown by the calls that follow.
  private func write(_ piece: OutputQueue.Piece) async throws(OutputError) {
    switch state.withLock({ $0.queue.add(piece) }) {
    case .begin: thread.async { self.writeAll() }
    case .wait: await wait { $0.hasRoom }
    case .fail(let error): throw error
    }
  }

  /// Adds bytes without waiting for room, for the few that nobody can wait with.
  func add(_ bytes: [UInt8]) {
    if case .begin = state.withLock({ $0.queue.add(.bytes(bytes)) }) { thread.async { self.writeAll() } }
  }

  /// Returns when all is written.
  func finish() async throws(OutputError) {
    await wait { $0.isIdle }
    if let failure { throw failure }
  }

  private func writeAll() {
    while true {
      let (next, sleepers) = state.withLock { state in
        let next = state.queue.next()
        return (next, state.sleepers.taken())
      }
      for sleeper in sleepers { sleeper.resume() }
      guard case .write(let pieces) = next else { return }
      do throws(OutputError) {
        try writer.write(pieces: pieces)
      } catch {
        let act = state.withLock { state in
          state.queue.failed(error)
          return state.onFailure.take()
        }
        act?()
      }
    }
  }

  private func wait(_ isMet: @Sendable (borrowing OutputQueue) -> Bool) async {
    while true {
      if state.withLock({ isMet($0.queue) }) { return }
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let sleeps = state.withLock { state in
          if isMet(state.queue) { return false }
          state.sleepers.append(continuation)
          return true
        }
        if !sleeps { continuation.resume() }
      }
    }
  }
}

extension Array {
  /// All elements; none are left.
  fileprivate mutating func taken() -> [Element] {
    if isEmpty { return [] }
    defer { self = [] }
    return self
  }
}
