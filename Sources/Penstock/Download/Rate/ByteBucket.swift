/// Lets through so many bytes a second, evenly: it holds a tenth of a second's worth. Without a rate all pass.
/// Pure; the caller brings the time.
struct ByteBucket: Sendable {
  private(set) var rate: ByteRate?
  /// Nil without a rate.
  private var tokens: TokenBucket?

  init(rate: ByteRate?, now: MonotonicInstant) {
    self.rate = rate
    tokens = rate.map { TokenBucket(rate: Self.tokens($0), burst: Self.tokens($0) / 10, now: now) }
  }

  private static func tokens(_ rate: ByteRate) -> Double { Double(rate.bytesPerSecond) }

  /// The largest piece that is let through at once.
  var piece: Int { tokens.map { Int(min($0.burst, 1e9)) } ?? .max }

  mutating func set(rate: ByteRate?, now: MonotonicInstant) {
    self.rate = rate
    guard let count = rate.map(Self.tokens) else { return tokens = nil }
    // Nothing was saved up while nothing was counted.
    if tokens == nil { tokens = TokenBucket(rate: count, burst: count / 10, saved: 0, now: now) }
    tokens?.set(rate: count, burst: count / 10, at: now)
  }

  /// Takes so many; how long to wait before they are ours, zero at once. What is taken is owed: the next one waits
  /// for it.
  mutating func take(_ count: Int, now: MonotonicInstant) -> Duration {
    tokens?.reserve(Double(count), at: now) ?? .zero
  }
}
