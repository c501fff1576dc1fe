import Dispatch
import Glibc
package import Penstock
import StreamCore
import Synchronization

/// A disk that counts, waits and fails as a test says; what it takes is written to the real file.
package final class TestDisk: Sendable {
  package struct Facts: Sendable {
    package var writes: [(offset: Int64, count: Int)] = []
    package var written: Int64 = 0
    package var syncs = 0
    /// Writes fail with this number once so many bytes are there.
    package var failure: (number: Int32, after: Int64)?
    package var syncFailure: (number: Int32, atSync: Int)?
    package var free: Int64?
    /// At most so many bytes a call.
    package var most = Int.max
  }

  private let facts = Mutex(Facts())
  /// Each write waits here for a turn, when there is one.
  private let turns: DispatchSemaphore?

  package init(waitsForTurns: Bool = false) { turns = waitsForTurns ? DispatchSemaphore(value: 0) : nil }

  package func set(_ change: (inout Facts) -> Void) { facts.withLock { change(&$0) } }
  package var now: Facts { facts.withLock { $0 } }

  package func giveTurns(_ count: Int = 1) { for _ in 0..<count { turns?.signal() } }

  package var calls: FileCalls {
    var calls = FileCalls.system
    calls.write = { descriptor, vectors, offset in
      self.turns?.wait()
      let (failure, written, most) = self.facts.withLock { ($0.failure, $0.written, $0.most) }
      if let failure, written >= failure.after { return -Int(failure.number) }
      var first = vectors.first ?? iovec()
      first.iov_len = min(first.iov_len, most)
      let count =
        most < Int.max
        ? pwrite(descriptor, first.iov_base, first.iov_len, Int(offset))
        : FileCalls.system.write(descriptor, vectors, offset)
      self.facts.withLock {
        $0.writes.append((offset, count))
        $0.written += Int64(max(0, count))
      }
      return count
    }
    calls.sync = { descriptor in
      let failure = self.facts.withLock { facts in
        facts.syncs += 1
        return facts.syncFailure.flatMap { $0.atSync == facts.syncs ? $0.number : nil }
      }
      return failure ?? FileCalls.system.sync(descriptor)
    }
    calls.freeBytes = { descriptor in self.now.free ?? FileCalls.system.freeBytes(descriptor) }
    return calls
  }
}
