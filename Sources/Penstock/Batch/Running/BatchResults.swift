/// Results between those who make them and the one who takes them: as they come, or in the order of the inputs.
struct BatchResults<Element> {
  private let keepsInputOrder: Bool
  private var ready = BatchQueue<Element>()
  /// In input order: results behind one that isn't there yet.
  private var early: [Int: Element] = [:]
  private var nextIndex = 0

  init(keepsInputOrder: Bool) { self.keepsInputOrder = keepsInputOrder }

  /// How many can be taken.
  var readyCount: Int { ready.count }
  /// How many there are.
  var count: Int { ready.count + early.count }
  var isEmpty: Bool { count == 0 }

  mutating func add(_ element: Element, at index: Int) {
    guard keepsInputOrder else { return ready.append(element) }
    guard index == nextIndex else {
      early[index] = element
      return
    }
    ready.append(element)
    nextIndex += 1
    while let element = early.removeValue(forKey: nextIndex) {
      ready.append(element)
      nextIndex += 1
    }
  }

  mutating func take(upTo limit: Int) -> [Element] {
    var taken: [Element] = []
    taken.reserveCapacity(min(limit, ready.count))
    while taken.count < limit, let element = ready.popFirst() { taken.append(element) }
    return taken
  }

  mutating func removeAll() {
    ready = BatchQueue()
    early = [:]
  }
}
