import Penstock
import PenstockBatchState
import Synchronization

/// The accounts of a run, kept by the one who takes the results and read by those who show them.
final class BatchLedger: Sendable {
  private struct State: Sendable {
    var tally = BatchTally()
    var report: BatchReport?
    var failure: Failure?
  }

  /// Lines that are written together, and what is to be remembered of them afterwards.
  struct Gathering: Sendable {
    var text: [UInt8] = []
    private(set) var records: [StateRecord] = []
    private let keeps: Bool

    init(state: Bool) {
      keeps = state
      text.reserveCapacity(8 << 10)
    }

    mutating func note(_ result: BatchLines.Result) {
      guard keeps else { return }
      let (record, error) = BatchLines.outcome(of: result)
      let key = BatchState.key(of: result.input.stateKey)
      if let error {
        records.append(
          .failed(
            key, url: result.input.url, status: record?.status ?? error.status?.code,
            attempts: result.attempts,
            error: error))
      } else {
        records.append(
          .done(
            key, url: result.input.url, status: record?.status, attempts: result.attempts,
            bytes: record?.bytes,
            sha256: record?.sha256))
      }
    }
  }

  private let state: Mutex<State>

  init(reports: Bool) { state = Mutex(State(report: reports ? BatchReport() : nil)) }

  var tally: BatchTally { state.withLock { $0.tally } }
  var report: BatchReport? { state.withLock { $0.report } }
  /// Why the run itself couldn't go on.
  var failure: Failure? { state.withLock { $0.failure } }

  func add(_ result: BatchLines.Result, at now: Duration) {
    state.withLock { state in
      state.tally.add(result)
      state.report?.add(result, at: now)
    }
  }

  func fail(_ failure: Failure) {
    state.withLock { state in if state.failure == nil { state.failure = failure } }
  }

  func standing(running: Int, read: Int, facts: BatchInputReader.Facts) -> BatchBar.Standing {
    let (ok, failed, bytes) = state.withLock { ($0.tally.ok, $0.tally.failed, $0.tally.bytes) }
    var standing = BatchBar.Standing(
      ok: ok, failed: failed, skipped: facts.skipped, running: running, bytes: bytes)
    if facts.isAtEnd, read > 0 {
      standing.share = Double(ok + failed) / Double(read)
    } else if let size = facts.size, size > 0, read > 0 {
      standing.share = Double(facts.position) / Double(size) * Double(ok + failed) / Double(read)
    }
    return standing
  }
}
