/// Who of many may run: m at a time, larger priority first, then who came first. Pure.
struct DownloadTurns: Sendable {
  typealias Key = Int

  private struct Waiting: Sendable {
    let key: Key
    var priority: Int
  }

  private(set) var limit: Int
  private(set) var running: Set<Key> = []
  private var waiting: [Waiting] = []

  init(limit: Int) { self.limit = max(1, limit) }

  var waitingCount: Int { waiting.count }

  /// Asks for a turn; the keys that have theirs now.
  mutating func enter(_ key: Key, priority: Int) -> [Key] {
    waiting.append(Waiting(key: key, priority: priority))
    return admit()
  }

  /// Gives a turn back, or leaves before having it.
  mutating func leave(_ key: Key) -> [Key] {
    running.remove(key)
    waiting.removeAll { $0.key == key }
    return admit()
  }

  mutating func set(limit: Int) -> [Key] {
    self.limit = max(1, limit)
    return admit()
  }

  mutating func set(priority: Int, of key: Key) {
    guard let index = waiting.firstIndex(where: { $0.key == key }) else { return }
    waiting[index].priority = priority
  }

  private mutating func admit() -> [Key] {
    var admitted: [Key] = []
    while running.count < limit, !waiting.isEmpty {
      var best = 0
      for index in waiting.indices where waiting[index].priority > waiting[best].priority { best = index }
      let key = waiting.remove(at: best).key
      running.insert(key)
      admitted.append(key)
    }
    return admitted
  }
}
