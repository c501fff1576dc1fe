/// Times of any number of events in fixed memory (about 20 KiB): quantiles are exact to 1.6 %, from a microsecond
/// to about fifty days.
///
/// Values are counted in buckets whose width grows with their value, as in an HDR histogram.
public struct LatencyHistogram: Sendable {
  /// Buckets for each doubling.
  private static let perDoubling = 64
  private static let doublings = 37

  private var counts = [UInt64](repeating: 0, count: perDoubling * (doublings + 1))
  /// How many were recorded.
  public private(set) var count: UInt64 = 0
  /// The shortest; nil when nothing was recorded.
  public private(set) var minimum: Duration?
  /// The longest; nil when nothing was recorded.
  public private(set) var maximum: Duration?
  private var sum = 0.0

  /// Nothing recorded.
  public init() {}

  /// Counts one.
  public mutating func record(_ time: Duration) {
    let time = max(.zero, time)
    counts[Self.bucket(Self.microseconds(time))] += 1
    count += 1
    sum += time / .seconds(1)
    minimum = minimum.map { min($0, time) } ?? time
    maximum = maximum.map { max($0, time) } ?? time
  }

  /// The mean; nil when nothing was recorded.
  public var mean: Duration? { count == 0 ? nil : .seconds(sum / Double(count)) }

  /// The time that this share (0...1) of all didn't exceed; nil when nothing was recorded.
  public func quantile(_ share: Double) -> Duration? {
    guard count > 0, let minimum, let maximum else { return nil }
    let rank = max(1, min(count, UInt64((share * Double(count)).rounded(.up))))
    var seen: UInt64 = 0
    for (bucket, number) in counts.enumerated() where number > 0 {
      seen += number
      if seen >= rank {
        let bounds = Self.bounds(bucket)
        let middle = Duration.microseconds((bounds.lowerBound + bounds.upperBound) / 2)
        return min(maximum, max(minimum, middle))
      }
    }
    return maximum
  }

  /// How many lie within these bounds, buckets counted by where they begin: for charts.
  public func count(in bounds: Range<Duration>) -> UInt64 {
    let from = Self.microseconds(bounds.lowerBound)
    let to = Self.microseconds(bounds.upperBound)
    var total: UInt64 = 0
    for (bucket, number) in counts.enumerated() where number > 0 {
      let begin = Self.bounds(bucket).lowerBound
      if begin >= from, begin < to { total += number }
    }
    return total
  }

  private static func microseconds(_ time: Duration) -> Int64 {
    let parts = time.components
    guard parts.seconds < 1 << 40 else { return .max }
    return parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
  }

  static func bucket(_ microseconds: Int64) -> Int {
    let value = UInt64(max(0, microseconds))
    if value < 64 { return Int(value) }
    let doubling = 63 - value.leadingZeroBitCount - 6
    guard doubling < doublings else { return perDoubling * (doublings + 1) - 1 }
    // The six bits below the highest one.
    return perDoubling * (doubling + 1) + Int(value >> UInt64(doubling)) - 64
  }

  static func bounds(_ bucket: Int) -> Range<Int64> {
    if bucket < 64 { return Int64(bucket)..<Int64(bucket + 1) }
    let doubling = Int64(bucket / perDoubling - 1)
    let begin = Int64(bucket % perDoubling + 64) << doubling
    return begin..<(begin + 1 << doubling)
  }
}
