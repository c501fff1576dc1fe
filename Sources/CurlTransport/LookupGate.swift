/// Keeps name look-ups few: one per name and a fixed number in all, since each costs a thread that can't be
/// stopped. Pure; the waiting things are whatever the loop starts later.
struct LookupGate<Waiter> {
  /// libcurl keeps an answer for 60 s; ours is forgotten before, so that no look-up goes uncounted.
  static var freshness: UInt64 { 50_000_000_000 }

  private struct Name {
    var isRunning = false
    var freshUntil: UInt64 = 0
    var waiters: [Waiter] = []
  }

  private var names: [String: Name] = [:]
  /// Names that wait for one of the places.
  private var queue: [String] = []
  private(set) var running = 0
  let places: Int
  /// So many names are remembered before the stale ones are dropped.
  private var namesBeforeSweep = 4096

  init(places: Int) { self.places = max(1, places) }

  enum Entry: Equatable {
    /// The name is known: go.
    case go
    /// Go, and say when the look-up has ended.
    case lead
    /// Kept until a look-up of this name has ended.
    case wait
  }

  mutating func enter(_ name: String, _ waiter: @autoclosure () -> Waiter, now: UInt64) -> Entry {
    var entry = names[name] ?? Name()
    defer { names[name] = entry }
    if !entry.isRunning, entry.waiters.isEmpty {
      if entry.freshUntil > now { return .go }
      if running < places {
        entry.isRunning = true
        running += 1
        return .lead
      }
      queue.append(name)
    }
    entry.waiters.append(waiter())
    return .wait
  }

  /// A look-up has ended. Returns those that may go now: with an answer all that waited for this name,
  /// without one the next of them, which leads; and the first of the next name.
  ///
  /// `freshness`: how long the answer holds; 0: for the one who asked alone.
  mutating func ended(
    _ name: String, resolved: Bool, now: UInt64, freshness: UInt64 = Self.freshness
  ) -> [(waiter: Waiter, leads: String?)] {
    guard var entry = names[name], entry.isRunning else { return [] }
    entry.isRunning = false
    running -= 1
    var released: [(waiter: Waiter, leads: String?)] = []
    if resolved, freshness > 0 {
      entry.freshUntil = now &+ freshness
      released = entry.waiters.map { ($0, nil) }
      entry.waiters = []
      names[name] = entry
      if names.count > namesBeforeSweep { forgetStale(now: now) }
    } else if entry.waiters.isEmpty {
      names[name] = nil
    } else {
      names[name] = entry
      queue.append(name)
    }
    while running < places, let next = queue.first {
      queue.removeFirst()
      guard var entry = names[next], !entry.isRunning, !entry.waiters.isEmpty else { continue }
      entry.isRunning = true
      running += 1
      released.append((entry.waiters.removeFirst(), next))
      names[next] = entry
    }
    return released
  }

  /// A look-up has failed: takes out all that waited for the same name, to fail with it.
  mutating func takeWaiters(of name: String) -> [Waiter] {
    guard var entry = names[name] else { return [] }
    let waiters = entry.waiters
    entry.waiters = []
    names[name] = entry
    return waiters
  }

  /// Takes out all that wait for any look-up.
  mutating func takeAllWaiters() -> [Waiter] {
    var waiters: [Waiter] = []
    for (name, entry) in names where !entry.waiters.isEmpty {
      waiters += entry.waiters
      names[name]?.waiters = []
    }
    queue = []
    return waiters
  }

  private mutating func forgetStale(now: UInt64) {
    names = names.filter { $0.value.isRunning || !$0.value.waiters.isEmpty || $0.value.freshUntil > now }
    namesBeforeSweep = max(4096, 2 * names.count)
  }
}
