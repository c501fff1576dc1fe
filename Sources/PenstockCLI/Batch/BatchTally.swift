import Penstock

/// What a run has come to: counts, bytes, and how long exchanges took, in fixed memory.
struct BatchTally: Sendable {
  private(set) var ok = 0
  private(set) var failed = 0
  private(set) var bytes: Int64 = 0
  private(set) var latencies = LatencyHistogram()

  var done: Int { ok + failed }

  mutating func add(_ result: BatchLines.Result) {
    let (record, error) = BatchLines.outcome(of: result)
    if error == nil { ok += 1 } else { failed += 1 }
    bytes += record?.bytes ?? 0
    // What joined another, or was never sent, took no time of its own.
    if result.attempts > 0, !result.isJoined { latencies.record(result.duration) }
  }

  /// The last line of a run.
  func summary(skipped: Int, duration: Duration) -> [UInt8] {
    var line = JSONLine(event: "summary")
    line.integer("ok", ok)
    line.integer("failed", failed)
    line.integer("skipped", skipped)
    line.integer("bytes", bytes)
    line.seconds("duration", duration)
    let seconds = duration / .seconds(1)
    line.double("rps", seconds > 0 ? ((Double(done) / seconds) * 1000).rounded() / 1000 : 0)
    line.seconds("p50", latencies.quantile(0.5))
    line.seconds("p99", latencies.quantile(0.99))
    return line.finish()
  }
}
