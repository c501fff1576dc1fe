import Penstock

/// What is known of a run's transfers, and the lines that tell it. Times are since the start of the run.
struct ProgressBoard: Sendable {
  private struct Entry: Sendable {
    let key: Int
    var row: ProgressBar.Row
    var heard: Duration
  }

  /// A transfer from which nothing came for so long is called stalled.
  static let patience = Duration.seconds(3)

  /// How many transfers there are in all.
  private let count: Int
  private var entries: [Entry] = []
  private var done = 0
  private var failed = 0
  private var endedBytes: Int64 = 0
  /// Lines that stay, not yet written.
  private var messages: [String] = []

  init(count: Int) { self.count = count }

  mutating func start(_ key: Int, name: String, at now: Duration) {
    let entry = Entry(key: key, row: ProgressBar.Row(name: name), heard: now)
    entries.insert(entry, at: entries.firstIndex { $0.key > key } ?? entries.endIndex)
  }

  mutating func rename(_ key: Int, _ name: String, total: Int64?, at now: Duration) {
    change(key, at: now) {
      $0.name = name
      $0.total = total
    }
  }

  mutating func progress(_ key: Int, _ progress: TransferProgress, at now: Duration) {
    change(key, at: now) {
      $0.received = progress.received
      $0.total = progress.total
      $0.rate = progress.rate
      $0.eta = progress.eta.map { $0 / .seconds(1) }
    }
  }

  /// Takes a transfer off the board; `bytes` is what it brought, nil for a failure.
  mutating func end(_ key: Int, bytes: Int64?) {
    entries.removeAll { $0.key == key }
    if let bytes { (done, endedBytes) = (done + 1, endedBytes + bytes) } else { failed += 1 }
  }

  /// A line that stays.
  mutating func say(_ line: String) {
    messages.append(line)
  }

  mutating func takeMessages() -> [String] {
    defer { messages = [] }
    return messages
  }

  private mutating func change(_ key: Int, at now: Duration, _ change: (inout ProgressBar.Row) -> Void) {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return }
    change(&entries[index].row)
    entries[index].heard = now
  }

  /// At most `height` lines of at most `width` columns: the transfers that run, by their keys, and one line
  /// for all where there are several. Where not all fit, it is the line for all that stays.
  func lines(width: Int, height: Int, at now: Duration) -> [String] {
    guard height > 0, width > 0 else { return [] }
    let rows = entries.map { row($0, at: now) }
    guard count > 1 else { return ProgressBar.render(Array(rows.prefix(height)), width: width) }
    if rows.isEmpty { return [] }
    let room = height - 1
    var shown = Array(rows.prefix(room))
    shown.append(summary(rows, hidden: rows.count - shown.count))
    return ProgressBar.render(shown, width: width)
  }

  /// One line for all of them.
  func line(width: Int, at now: Duration) -> String? { lines(width: width, height: 1, at: now).first }

  private func row(_ entry: Entry, at now: Duration) -> ProgressBar.Row {
    var row = entry.row
    if now - entry.heard >= Self.patience {
      row.rate = nil
      row.eta = nil
      row.remark = row.received > 0 ? "stalled" : "waiting"
    }
    return row
  }

  private func summary(_ rows: [ProgressBar.Row], hidden: Int) -> ProgressBar.Row {
    var name = "\(done) of \(count) done"
    if failed > 0 { name += ", \(failed) failed" }
    if hidden > 0, hidden < rows.count { name += ", \(hidden) more" }
    var all = ProgressBar.Row(name: name, shortName: "\(done)/\(count)")
    all.received = rows.reduce(endedBytes) { $0.saturatingSum($1.received) }
    all.rate = rows.reduce(0) { $0 + ($1.rate ?? 0) }
    // The total is known when everything has begun and said how much it is.
    let totals = rows.compactMap(\.total)
    if rows.count + done + failed == count, totals.count == rows.count {
      let total = totals.reduce(endedBytes) { $0.saturatingSum($1) }
      all.total = total
      if let rate = all.rate, rate >= 1 { all.eta = Double(max(0, total - all.received)) / rate }
    }
    return all
  }
}

extension Int64 {
  fileprivate func saturatingSum(_ other: Int64) -> Int64 {
    let sum = addingReportingOverflow(other)
    return sum.overflow ? .max : sum.partialValue
  }
}
