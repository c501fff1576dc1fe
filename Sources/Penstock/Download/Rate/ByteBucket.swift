/// Lets through so many bytes a second, evenly: it holds a tenth of a second's worth. Pure; times are since any
/// fixed instant.
struct ByteBucket: Sendable {
  private(set) var rate: ByteRate?
  private var tokens: Double = 0
  private var last: Duration

  init(rate: ByteRate?, now: Duration) {
    self.rate = rate
    last = now
    tokens = capacity
  }

  private var capacity: Double { rate.map { max(1, Double($0.bytesPerSecond) / 10) } ?? 0 }

  /// The largest piece that is let through at once.
  var piece: Int { rate == nil ? .max : max(1, Int(min(capacity, 1e9))) }

  mutating func set(rate: ByteRate?, now: Duration) {
    refill(now)
    self.rate = rate
    tokens = min(tokens, capacity)
  }

  /// Takes so many; how long to wait before they are ours, zero at once. What is taken is owed: the next one waits
  /// for it.
  mutating func take(_ count: Int, now: Duration) -> Duration {
    guard let rate else { return .zero }
    refill(now)
    tokens -= Double(count)
    return tokens >= 0 ? .zero : .seconds(-tokens / Double(rate.bytesPerSecond))
  }

  private mutating func refill(_ now: Duration) {
    let elapsed = max(0, (now - last) / .seconds(1))
    last = max(last, now)
    guard let rate else { return }
    tokens = min(capacity, tokens + elapsed * Double(rate.bytesPerSecond))
  }
}
