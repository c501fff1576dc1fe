import Glibc
import Synchronization

/// Has the kernel bring a file to the disk while it is being written, so that the sync at its end finds little
/// left to do. Left alone, the kernel begins when half a minute has passed or much of its memory is dirty.
///
/// It runs on a queue of its own: where the disk is busy, handing bytes to it waits.
final class Writeback: Sendable {
  private struct State: Sendable {
    /// Bytes since it was begun last, and between which places of the file they lie.
    var count = 0
    var range: Range<Int64> = 0..<0
    var isUnderWay = false
  }

  /// It is begun after so many bytes: enough to cost little, and little for a disk that the end must wait for.
  static let step = 8 << 20
  /// What a busy disk is given next is no more than this; the rest is left to the sync at the end.
  static let most = 4 * step

  private let queue = FileQueue()
  private let begin: @Sendable (_ descriptor: Int32, _ range: Range<Int64>) -> Void
  private let state = Mutex(State())

  init(_ begin: @escaping @Sendable (_ descriptor: Int32, _ range: Range<Int64>) -> Void) {
    self.begin = begin
  }

  /// Bytes have been written to the file.
  func wrote(_ range: Range<Int64>, to descriptor: Int32) {
    let isDue = state.withLock { state in
      if state.count >= Self.most { state.count = 0 }
      state.range =
        state.count == 0
        ? range
        : min(state.range.lowerBound, range.lowerBound)..<max(state.range.upperBound, range.upperBound)
      state.count += range.count
      guard state.count >= Self.step, !state.isUnderWay else { return false }
      state.isUnderWay = true
      return true
    }
    if isDue { queue.submit { self.run(descriptor) } }
  }

  private func run(_ descriptor: Int32) {
    while let range = next() { begin(descriptor, range) }
  }

  /// What is to be begun now.
  private func next() -> Range<Int64>? {
    state.withLock { state in
      guard state.count >= Self.step else {
        state.isUnderWay = false
        return nil
      }
      state.count = 0
      return state.range
    }
  }

  /// Gives up the file's lock at once, and closes it when nothing is under way there.
  func close(_ descriptor: Int32) {
    guard state.withLock({ $0.isUnderWay }) else {
      Glibc.close(descriptor)
      return
    }
    flock(descriptor, LOCK_UN)
    queue.submit { Glibc.close(descriptor) }
  }
}
