/// How far a body is.
public struct TransferProgress: Sendable, Hashable {
  /// Body bytes from the wire, content coding still on.
  public var received: Int64 = 0
  /// How many there will be, nil when unknown.
  public var total: Int64?
  /// Body bytes handed out, content coding taken off.
  public var decoded: Int64 = 0
  /// Bytes a second from the wire, smoothed over about two seconds.
  public var rate: Double = 0
  /// What is left at that rate; nil when the total is unknown or nothing moves.
  public var eta: Duration?

  /// The part that has come, 0...1; nil when the total is unknown.
  public var fraction: Double? {
    guard let total else { return nil }
    return total <= 0 ? 1 : min(1, Double(received) / Double(total))
  }
}

/// Makes `TransferProgress` from counts and times: pure, on whatever clock the caller reads.
struct ProgressMeter: Sendable {
  /// How long ago a byte counts about a third as much as one of now.
  private static let memory = 2.0
  /// How often a value is due.
  static let interval = Duration.milliseconds(100)

  private(set) var progress = TransferProgress()
  private let start: Duration
  private var last: Duration
  private var lastReceived: Int64 = 0
  private var reported: Duration

  /// `now` is the time since any fixed instant; `received` came before it and doesn't count for the rate.
  init(total: Int64?, now: Duration, received: Int64 = 0) {
    progress.total = total
    progress.received = received
    progress.decoded = received
    lastReceived = received
    start = now
    last = now
    reported = now
  }

  /// Counts bytes; true when a value is due.
  mutating func update(received: Int64, decoded: Int64, now: Duration) -> Bool {
    progress.received = received
    progress.decoded = decoded
    guard now - reported >= Self.interval else { return false }
    measure(now)
    reported = now
    return true
  }

  /// What was unknown when the meter was made.
  mutating func learn(total: Int64?) { progress.total = total }

  /// The last value.
  mutating func finish(now: Duration) -> TransferProgress {
    measure(now)
    progress.eta = progress.total.map { _ in .zero }
    return progress
  }

  private mutating func measure(_ now: Duration) {
    let seconds = (now - last) / .seconds(1)
    guard seconds > 0 else { return }
    let recent = Double(progress.received - lastReceived) / seconds
    let elapsed = (now - start) / .seconds(1)
    // Until the memory is full it is a plain average, so that the first values aren't too low.
    let weight = max(1 - 1 / (1 + seconds / Self.memory), min(1, seconds / elapsed))
    progress.rate += (recent - progress.rate) * weight
    last = now
    lastReceived = progress.received
    guard let total = progress.total, progress.rate >= 1 else {
      progress.eta = nil
      return
    }
    progress.eta = .seconds(Double(max(0, total - progress.received)) / progress.rate)
  }
}
