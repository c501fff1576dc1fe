/// The last latencies of a key, and the one that a part of them stays below. Pure.
struct LatencyWindow: Sendable {
  static let size = 128
  /// Sorting is done once for so many new ones.
  private static let refresh = 8

  private var samples: [Duration] = []
  private var position = 0
  private var fresh = 0
  private var known: Duration?
  private let percentile: Double

  /// - Parameter percentile: 0...1.
  init(percentile: Double) { self.percentile = percentile.isNaN ? 0.95 : min(max(percentile, 0), 1) }

  var count: Int { samples.count }

  mutating func add(_ latency: Duration) {
    if samples.count < Self.size {
      samples.append(latency)
    } else {
      samples[position] = latency
      position = (position + 1) % Self.size
    }
    fresh += 1
    if known == nil || fresh >= Self.refresh { refresh() }
  }

  /// The latency that so many of the last ones stayed below; nil without any.
  var latency: Duration? { known }

  private mutating func refresh() {
    fresh = 0
    let sorted = samples.sorted()
    known = sorted[min(sorted.count - 1, Int((Double(sorted.count) * percentile).rounded(.down)))]
  }
}
