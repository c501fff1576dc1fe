/// What the scheduler knows of one host.
struct BatchHost {
  private struct Bucket {
    let priority: Int
    var tickets = BatchQueue<Int>()
  }

  let name: String
  /// Waiting tickets, the most urgent bucket first. Nearly always there is one.
  private var buckets: [Bucket] = []
  private(set) var waiting = 0
  var running = 0
  /// Tickets that wait for the time of their repeat; they aren't among the waiting ones.
  var repeats = 0
  var adaptive: BatchAdaptiveLimit?
  /// Its rate; a crawl delay that is longer takes the place of the batch's own.
  var tokens: TokenBucket?
  /// `Retry-After`: nothing starts before.
  var heldUntil: MonotonicInstant?
  /// Deficit round robin: what it may still spend, in units of cost.
  var deficit = 0
  /// Where it stands.
  enum Place: Equatable {
    /// Nothing waits, or all its places are taken.
    case nowhere
    /// It could start something.
    case ring(priority: Int)
    /// Only time has to pass.
    case timer(MonotonicInstant)
  }
  var place = Place.nowhere
  /// Tells whether an entry of a ring or a timer is the newest one.
  var stamp: UInt64 = 0
  /// Mean size of its bodies.
  private var meanBytes = 0.0

  init(name: String) { self.name = name }

  var isIdle: Bool { waiting == 0 && running == 0 && repeats == 0 }

  var topPriority: Int? { buckets.first?.priority }

  mutating func add(_ ticket: Int, priority: Int) {
    waiting += 1
    buckets[bucketIndex(priority)].tickets.append(ticket)
  }

  /// For one that had its turn before.
  mutating func addFirst(_ ticket: Int, priority: Int) {
    waiting += 1
    buckets[bucketIndex(priority)].tickets.prepend(ticket)
  }

  private mutating func bucketIndex(_ priority: Int) -> Int {
    if let first = buckets.first {
      if first.priority == priority { return 0 }
      if first.tickets.isEmpty { buckets.removeFirst() }
    }
    let index = buckets.firstIndex { $0.priority <= priority } ?? buckets.endIndex
    if index == buckets.endIndex || buckets[index].priority != priority {
      buckets.insert(Bucket(priority: priority), at: index)
    }
    return index
  }

  mutating func takeFirst() -> Int? {
    guard !buckets.isEmpty, let ticket = buckets[0].tickets.popFirst() else { return nil }
    waiting -= 1
    // The last bucket is kept, as its memory is needed again.
    if buckets[0].tickets.isEmpty, buckets.count > 1 { buckets.removeFirst() }
    return ticket
  }

  mutating func takeAll() -> [Int] {
    waiting = 0
    repeats = 0
    defer { buckets = [] }
    return buckets.flatMap { bucket in
      var tickets = bucket.tickets
      return tickets.takeAll()
    }
  }

  /// What a start costs, in units of 64 KiB of body, at least 1: hosts share bytes, not just turns.
  var cost: Int { max(1, min(16, Int(meanBytes / 65_536))) }

  mutating func transferred(_ bytes: Int64) {
    meanBytes += (Double(bytes) - meanBytes) / 8
  }
}
