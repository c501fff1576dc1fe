/// What a guard keeps for each key, under its lock. The key of the last request is nearly always that of the next one, so
/// that finding it is one comparison.
struct KeyedStates<State: Sendable>: Sendable {
  private final class Slot: @unchecked Sendable {
    // Sendable: it is used under its guard's lock alone.
    @exclusivity(unchecked) var state: State
    init(_ state: State) { self.state = state }
  }

  private var slots: [String: Slot] = [:]
  private var last: (key: String, slot: Slot)?
  /// With so many the idle ones are looked for next.
  private var sweepAt = 0

  var count: Int { slots.count }
  var states: [State] { slots.values.map(\.state) }

  /// The state of a key, if there is one.
  subscript(_ key: String) -> State? { slots[key]?.state }

  /// Changes the state of a key; nil when there is none.
  mutating func change<Result>(_ key: String, _ body: (inout State) -> Result) -> Result? {
    find(key).map { body(&$0.state) }
  }

  /// Changes the state of a key, which is made if there is none. From `sweepCount` on, and whenever there are twice as many
  /// as were left by the last time, those that are idle are forgotten before.
  mutating func change<Result>(
    _ key: String, orMake make: () -> State, sweepCount: Int, isIdle: (inout State) -> Bool,
    _ body: (inout State) -> Result
  ) -> Result {
    if let slot = find(key) { return body(&slot.state) }
    if slots.count >= max(sweepCount, sweepAt) {
      for (key, slot) in slots where isIdle(&slot.state) { slots[key] = nil }
      last = nil
      sweepAt = 2 * slots.count
    }
    let slot = Slot(make())
    slots[key] = slot
    last = (key, slot)
    return body(&slot.state)
  }

  private mutating func find(_ key: String) -> Slot? {
    if let last, last.key == key { return last.slot }
    guard let slot = slots[key] else { return nil }
    last = (key, slot)
    return slot
  }
}
