/// Places of one key: who has one, who waits, in which order. Pure.
struct ConcurrencyStateMachine: Sendable {
  enum EnterAction: Sendable, Equatable { case start, wait, refuse }

  private let limit: Int
  private let longestQueue: Int
  private(set) var running = 0
  private var queue: [UInt64] = []
  private var head = 0

  init(limit: Int, longestQueue: Int) {
    self.limit = max(1, limit)
    self.longestQueue = max(0, longestQueue)
  }

  var waiting: Int { queue.count - head }
  var isIdle: Bool { running == 0 && waiting == 0 }

  /// Takes a place if there is one.
  mutating func enterAtOnce() -> Bool {
    guard running < limit else { return false }
    running += 1
    return true
  }

  mutating func enter(_ id: UInt64) -> EnterAction {
    if enterAtOnce() { return .start }
    guard waiting < longestQueue else { return .refuse }
    queue.append(id)
    return .wait
  }

  /// One that ran has ended; returns who takes its place.
  mutating func leave() -> UInt64? {
    guard head < queue.count else {
      running = max(0, running - 1)
      return nil
    }
    let next = queue[head]
    head += 1
    if head > 32, head * 2 > queue.count {
      queue.removeFirst(head)
      head = 0
    }
    return next
  }

  /// One that waited doesn't any more; false when it wasn't waiting.
  mutating func withdraw(_ id: UInt64) -> Bool {
    guard let index = queue[head...].firstIndex(of: id) else { return false }
    queue.remove(at: index)
    return true
  }
}
