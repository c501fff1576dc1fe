/// How many exchanges ended when: counts over equal times, in fixed memory. When there are too many, neighbours are
/// joined and each then covers twice the time.
struct BatchTimeline: Sendable {
  struct Slot: Sendable, Equatable {
    var ok = 0
    var failed = 0
    var bytes: Int64 = 0
  }

  static let most = 240

  /// What each slot covers, in seconds.
  private(set) var width = 0.25
  private(set) var slots: [Slot] = []

  mutating func add(at seconds: Double, failed: Bool, bytes: Int64) {
    var index = Int(max(0, seconds) / width)
    while index >= Self.most {
      join()
      index = Int(max(0, seconds) / width)
    }
    while slots.count <= index { slots.append(Slot()) }
    if failed { slots[index].failed += 1 } else { slots[index].ok += 1 }
    slots[index].bytes += bytes
  }

  private mutating func join() {
    width *= 2
    slots = stride(from: 0, to: slots.count, by: 2).map { index in
      var slot = slots[index]
      if index + 1 < slots.count {
        slot.ok += slots[index + 1].ok
        slot.failed += slots[index + 1].failed
        slot.bytes += slots[index + 1].bytes
      }
      return slot
    }
  }
}
