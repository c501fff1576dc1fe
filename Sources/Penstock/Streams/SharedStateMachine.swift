/// What of a stream waits for several readers, and which of them goes first; touches no stream.
struct SharedStateMachine<Element: Sendable>: Sendable {
  enum NextAction: Sendable {
    case element(Element)
    /// The same, and there is room again: read on.
    case elementAndRead(Element)
    case wait
    /// Nothing is there: read on.
    case waitAndRead
    case end
    case fail(HTTPError)
  }

  enum LeaveAction: Sendable, Equatable {
    case none
    case read
    /// No reader is left.
    case stop
  }

  private enum Reader: Sendable, Equatable {
    case at(Int)
    /// Fell too far behind.
    case lost
    case left
  }

  private let rule: SharingRule
  private var items: [(element: Element, cost: Int)] = []
  /// The number of the first of them.
  private var first = 0
  private var cost = 0
  private var readers: [Reader]
  private var waiting: Set<Int> = []
  private var isReading = false
  private var outcome: NextAction?

  init(readers count: Int, rule: SharingRule) {
    readers = Array(repeating: .at(0), count: count)
    self.rule = rule
  }

  /// What waits, in the unit of the rule.
  var held: Int { cost }

  /// Whether a reader was told to wait and nothing has come since.
  func isWaiting(_ reader: Int) -> Bool { waiting.contains(reader) }

  mutating func next(_ reader: Int) -> NextAction {
    switch readers[reader] {
    case .left: return .end
    case .lost:
      readers[reader] = .left
      return .fail(
        HTTPError(
          .readerTooSlow, phase: .body,
          message: "this reader of a shared stream fell too far behind the others",
          advice: "Read faster, let more be held, or let the slowest reader set the pace"))
    case .at(let place):
      if place < first + items.count {
        let element = items[place - first].element
        readers[reader] = .at(place + 1)
        trim()
        return beginReading() ? .elementAndRead(element) : .element(element)
      }
      if let outcome { return outcome }
      waiting.insert(reader)
      return beginReading() ? .waitAndRead : .wait
    }
  }

  /// An element was read: these readers are to be woken.
  mutating func received(_ element: Element, cost: Int) -> Set<Int> {
    isReading = false
    items.append((element, cost))
    self.cost += cost
    if case .leaveBehind(let limit) = rule { leaveBehind(limit) }
    trim()
    return taken()
  }

  /// The stream is over: these readers are to be woken.
  mutating func ended(_ failure: HTTPError?) -> Set<Int> {
    isReading = false
    if outcome == nil { outcome = failure.map { .fail($0) } ?? .end }
    return taken()
  }

  /// A reader has gone.
  mutating func left(_ reader: Int) -> LeaveAction {
    guard readers[reader] != .left else { return .none }
    readers[reader] = .left
    waiting.remove(reader)
    trim()
    if readers.allSatisfy({ $0 == .left }) {
      items = []
      cost = 0
      return .stop
    }
    return beginReading() ? .read : .none
  }

  private mutating func taken() -> Set<Int> {
    defer { waiting = [] }
    return waiting
  }

  /// Whether the stream is to be read now: somebody waits, and there is room.
  private mutating func beginReading() -> Bool {
    guard !isReading, outcome == nil, !waiting.isEmpty else { return false }
    if case .slowest(let limit) = rule, cost >= limit { return false }
    isReading = true
    return true
  }

  private mutating func trim() {
    var least = first + items.count
    for case .at(let place) in readers { least = min(least, place) }
    let count = least - first
    guard count > 0 else { return }
    for item in items.prefix(count) { cost -= item.cost }
    items.removeFirst(count)
    first = least
  }

  /// Loses the readers that need what is too much, but never one that has all but the last element.
  private mutating func leaveBehind(_ limit: Int) {
    var held = cost
    var place = first
    for item in items.dropLast() {
      if held <= limit { break }
      held -= item.cost
      place += 1
    }
    for (index, reader) in readers.enumerated() {
      if case .at(let at) = reader, at < place {
        readers[index] = .lost
        waiting.remove(index)
      }
    }
  }
}

/// Which reader of a shared stream sets the pace. The amounts are bytes for bodies, elements for other streams.
public enum SharingRule: Sendable, Hashable {
  /// The slowest one: the stream is read on when the slowest reader is behind the fastest by less than so much.
  case slowest(holding: Int)
  /// The fastest one: a reader that is behind by more than so much gets `HTTPError.Kind.readerTooSlow`.
  case leaveBehind(holding: Int)
}
