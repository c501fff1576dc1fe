import Penstock

/// What a run's page tells, gathered as results come, in bounded memory.
struct BatchReport: Sendable {
  /// One of the slowest exchanges.
  struct Slow: Sendable {
    let url: String
    let status: Int?
    let kind: String?
    let attempts: Int
    let duration: Duration
    let timings: ExchangeFacts.Timings?
  }

  static let slowest = 20

  private(set) var timeline = BatchTimeline()
  private(set) var errors: [String: Int] = [:]
  private(set) var statuses: [Int: Int] = [:]
  private(set) var slow: [Slow] = []

  mutating func add(_ result: BatchLines.Result, at now: Duration) {
    let (record, error) = BatchLines.outcome(of: result)
    timeline.add(at: now / .seconds(1), failed: error != nil, bytes: record?.bytes ?? 0)
    if let status = record?.status ?? error?.status?.code { statuses[status, default: 0] += 1 }
    if let error {
      let name = error.kind == .httpStatus ? "status \(error.status?.code ?? 0)" : error.kind.rawValue
      errors[name, default: 0] += 1
    }
    guard result.attempts > 0, !result.isJoined else { return }
    if slow.count == Self.slowest, let least = slow.last, result.duration <= least.duration { return }
    let entry = Slow(
      url: Redaction.url(result.input.url), status: record?.status ?? error?.status?.code,
      kind: error?.kind.rawValue, attempts: result.attempts, duration: result.duration,
      timings: record?.timings)
    let index = slow.firstIndex { $0.duration < entry.duration } ?? slow.endIndex
    slow.insert(entry, at: index)
    if slow.count > Self.slowest { slow.removeLast() }
  }
}
