/// Which bytes of a whole are there, which are on their way, and which are to be asked for: the work of one
/// download, handed out in ranges. Pure.
///
/// A worker claims a range, tells what comes, and gives back what is left of it. When nothing is left to claim,
/// the second half of the remainder that would take longest is taken from its worker.
struct SegmentPlan: Sendable {
  typealias ID = Int

  /// A range that somebody loads.
  struct Segment: Sendable, Hashable {
    let id: ID
    let start: Int64
    /// The next byte.
    var position: Int64
    /// One past the last byte; `Int64.max` while the total is unknown. It falls when a part is taken away.
    var end: Int64
    /// Bytes a second, as last measured.
    var rate: Double = 0

    var remaining: Int64 { end - position }
  }

  /// What becomes of bytes that came.
  enum Arrival: Sendable, Hashable {
    /// Take so many of them; the range goes on.
    case take(Int)
    /// Take so many of them: the range is whole, and the exchange can end.
    case takeLast(Int)
    /// The range is nobody's any more.
    case drop
  }

  private(set) var total: Int64?
  /// No range is made smaller than this by sharing.
  let minimum: Int64
  private(set) var received: ByteRanges
  private(set) var active: [ID: Segment] = [:]
  private var nextID = 0

  init(total: Int64?, received: ByteRanges = ByteRanges(), minimum: Int64 = 1 << 20) {
    self.total = total
    self.received = received
    self.minimum = max(1, minimum)
  }

  /// Bytes that have come.
  var count: Int64 { received.count }

  var isComplete: Bool { total.map { received.end(from: 0) >= $0 } ?? false }

  /// The first byte that is missing.
  var firstMissing: Int64 { received.end(from: 0) }

  /// Whether a claim would get anything.
  var hasWork: Bool { !open.isEmpty || victim != nil }

  /// What is missing and nobody loads.
  private var open: [Range<Int64>] {
    var taken = received
    for segment in active.values { taken.insert(segment.position..<segment.end) }
    return taken.gaps(upTo: total ?? .max)
  }

  /// The worker whose remainder would take longest, where it is worth sharing.
  private var victim: Segment? {
    guard total != nil else { return nil }
    func time(_ segment: Segment) -> Double { Double(segment.remaining) / max(segment.rate, 1) }
    return active.values.filter { $0.remaining >= 2 * minimum }
      .max { (time($0), $1.id) < (time($1), $0.id) }
  }

  /// A range to load, of at most `limit` bytes; nil when there is nothing left to do.
  mutating func claim(limit: Int64 = .max) -> Segment? {
    if let gap = open.first {
      let end = gap.upperBound - gap.lowerBound > limit ? gap.lowerBound + limit : gap.upperBound
      return begin(gap.lowerBound..<end)
    }
    guard var victim else { return nil }
    let middle = page(victim.position + victim.remaining / 2)
    let end = victim.end
    guard middle > victim.position, middle < end else { return nil }
    victim.end = middle
    active[victim.id] = victim
    return begin(middle..<end)
  }

  /// A range that somebody loads already when the plan is made.
  private mutating func begin(_ range: Range<Int64>) -> Segment {
    nextID += 1
    let segment = Segment(
      id: nextID, start: range.lowerBound, position: range.lowerBound, end: range.upperBound)
    active[segment.id] = segment
    return segment
  }

  private func page(_ position: Int64) -> Int64 { position / 4096 * 4096 }

  /// Bytes have come at a range's position.
  mutating func arrive(_ id: ID, _ count: Int) -> Arrival {
    guard var segment = active[id] else { return .drop }
    let taken = Int(min(Int64(count), segment.remaining))
    received.insert(segment.position..<segment.position + Int64(taken))
    segment.position += Int64(taken)
    active[id] = segment
    if segment.remaining > 0 { return .take(taken) }
    active[id] = nil
    return .takeLast(taken)
  }

  mutating func measured(_ id: ID, rate: Double) { active[id]?.rate = rate }

  /// What is left of a range can be claimed by others.
  mutating func release(_ id: ID) { active[id] = nil }

  /// The answer gives less than was claimed: what is behind it can be claimed by others.
  mutating func shorten(_ id: ID, to end: Int64) {
    guard let segment = active[id], end < segment.end, end > segment.position else { return }
    active[id]?.end = end
  }

  /// The size of the whole is known now.
  mutating func learn(total: Int64) {
    guard self.total == nil else { return }
    self.total = total
    for id in active.keys where (active[id]?.end ?? 0) > total { active[id]?.end = total }
  }

  /// The body ended where nobody knew its end; false when bytes are missing.
  mutating func end(_ id: ID) -> Bool {
    guard let segment = active.removeValue(forKey: id) else { return true }
    guard total == nil, segment.end == .max else { return segment.remaining == 0 }
    total = segment.position
    return true
  }
}
