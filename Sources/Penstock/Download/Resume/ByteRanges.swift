/// A set of bytes as ranges in order, none touching another.
struct ByteRanges: Sendable, Hashable {
  private(set) var ranges: [Range<Int64>] = []

  init() {}

  init(_ ranges: [Range<Int64>]) {
    for range in ranges { insert(range) }
  }

  var isEmpty: Bool { ranges.isEmpty }

  /// How many bytes.
  var count: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// One past the last byte.
  var end: Int64 { ranges.last?.upperBound ?? 0 }

  mutating func insert(_ new: Range<Int64>) {
    guard !new.isEmpty else { return }
    // Nearly always it goes on where one of the last ended.
    var low = ranges.count
    while low > 0, ranges[low - 1].upperBound >= new.lowerBound { low -= 1 }
    var high = low
    var merged = new
    while high < ranges.count, ranges[high].lowerBound <= new.upperBound {
      merged =
        min(merged.lowerBound, ranges[high].lowerBound)..<max(merged.upperBound, ranges[high].upperBound)
      high += 1
    }
    ranges.replaceSubrange(low..<high, with: [merged])
  }

  /// Where the run of bytes that holds `start` ends; `start` itself when it isn't there.
  func end(from start: Int64) -> Int64 {
    for range in ranges where range.contains(start) { return range.upperBound }
    return start
  }

  /// What is missing of `0..<total`.
  func gaps(upTo total: Int64) -> [Range<Int64>] {
    var gaps: [Range<Int64>] = []
    var position: Int64 = 0
    for range in ranges {
      if range.lowerBound >= total { break }
      if range.lowerBound > position { gaps.append(position..<range.lowerBound) }
      position = max(position, range.upperBound)
    }
    if position < total { gaps.append(position..<total) }
    return gaps
  }
}
