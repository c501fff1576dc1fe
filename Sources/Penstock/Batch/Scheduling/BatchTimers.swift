/// What is due at some time, the earliest first: a binary heap. Nothing is removed before its time; whoever gets
/// it looks whether it still means something.
struct BatchTimers {
  enum Subject: Equatable {
    /// A host may be asked again; the stamp says whether that is still news.
    case host(Int, stamp: UInt64)
    /// A ticket may be tried again.
    case ticket(Int)
  }

  private var heap: [(due: MonotonicInstant, subject: Subject)] = []

  var earliest: MonotonicInstant? { heap.first?.due }
  var count: Int { heap.count }

  mutating func insert(_ subject: Subject, at due: MonotonicInstant) {
    heap.append((due, subject))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if heap[parent].due <= heap[child].due { break }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  /// What is due by now, one at a time.
  mutating func popDue(_ now: MonotonicInstant) -> Subject? {
    guard let first = heap.first, first.due <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].due < heap[least].due {
        least = child
      }
      if least == parent { return first.subject }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  /// Tickets that wait, all of them; nothing is left.
  mutating func takeTickets() -> [Int] {
    defer { heap = [] }
    return heap.compactMap { if case .ticket(let ticket) = $0.subject { ticket } else { nil } }
  }
}
