/// How far each reader of a shared body is, what is kept, and whether more is wanted. Pure.
struct SharedBodyStateMachine: Sendable {
  private let limit: Int
  /// How many bytes each reader has taken.
  private var positions: [UInt64: Int] = [:]
  private var waiting: Set<UInt64> = []
  /// Bytes received, and those of them that were dropped.
  private(set) var received = 0
  private(set) var droppedBytes = 0
  private var hasEnded = false
  private var hadReaders = false

  init(limit: Int) { self.limit = max(1, limit) }

  /// Whether all that was received is still here, and so little that it stays.
  var isJoinable: Bool { droppedBytes == 0 && received <= limit && (hasEnded || !isDeserted) }
  /// Whether readers came and all have gone.
  var isDeserted: Bool { hadReaders && positions.isEmpty }
  private var slowest: Int { positions.values.min() ?? received }

  /// Whether the exchange should be read on: somebody waits for more, and the slowest isn't too far behind.
  var wantsMore: Bool { !hasEnded && !waiting.isEmpty && received - slowest < limit }

  mutating func joined(_ member: UInt64) {
    hadReaders = true
    positions[member] = 0
  }

  mutating func received(_ count: Int) {
    received += count
    waiting = []
  }

  mutating func ended() {
    hasEnded = true
    waiting = []
  }

  mutating func read(_ count: Int, by member: UInt64) { positions[member]? += count }

  /// A reader has all that is here and wants more.
  mutating func waits(_ member: UInt64) { waiting.insert(member) }

  mutating func left(_ member: UInt64) {
    positions[member] = nil
    waiting.remove(member)
  }

  /// Whether the oldest bytes, so many, may go: all have read them, and nobody may join any more.
  func mayDrop(_ count: Int) -> Bool { received > limit && droppedBytes + count <= slowest }

  mutating func dropped(_ count: Int) { droppedBytes += count }
}
