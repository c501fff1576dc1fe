/// How many segments are worth having. Pure.
///
/// A fixed number is that number, as far as the size gives each its minimum. `automatic` begins with two for a
/// large file and adds one as long as each addition makes the whole at least an eighth faster; a server that
/// refuses a connection ends that.
struct SegmentTuner: Sendable {
  static let most = 8
  /// Smaller files aren't worth a second connection.
  static let automaticSize: Int64 = 16 << 20
  /// How long a number is tried before it is judged.
  static let trial = Duration.seconds(1)
  private static let gain = 1.125

  private(set) var wanted: Int
  private let limit: Int
  private let adapts: Bool
  private var isSettled: Bool
  private var rate = 0.0
  private var since: Duration?

  init(_ choice: DownloadOptions.Segments, total: Int64?, minimum: Int64) {
    let fitting = total.map { Int(clamping: max(1, $0 / max(1, minimum))) } ?? 1
    switch choice {
    case .count(let count):
      limit = max(1, min(count, fitting))
      wanted = limit
      adapts = false
      isSettled = true
    case .automatic:
      limit = min(Self.most, fitting)
      adapts = true
      let isLarge = (total ?? 0) >= Self.automaticSize
      wanted = isLarge ? min(2, limit) : 1
      isSettled = !isLarge
    }
  }

  /// What the whole download does a second, `now` since any fixed instant.
  mutating func measure(rate: Double, running: Int, now: Duration) {
    guard adapts, !isSettled, running >= wanted else { return }
    guard let begin = since else {
      since = now
      return
    }
    guard now - begin >= Self.trial else { return }
    since = nil
    if rate < self.rate * Self.gain || wanted >= limit {
      isSettled = true
    } else {
      self.rate = rate
      wanted += 1
    }
  }

  /// The server refused one more while so many were running.
  mutating func refused(running: Int) {
    wanted = max(1, min(wanted, running))
    isSettled = true
  }

  /// Ranges aren't honoured.
  mutating func settleForOne() {
    wanted = 1
    isSettled = true
  }
}
