/// Deadlines (monotonic nanoseconds) with a message for each: a binary heap that knows where every timer
/// sits, so that scheduling, moving and cancelling take logarithmic time. Confined to its owner.
package struct DeadlineTimers {
  /// What to do when a deadline has passed: `receiver.receive(code)`.
  package struct Expired {
    package let receiver: any LoopMessageReceiver
    package let code: UInt8
  }

  private struct Slot {
    /// nil: the slot is free.
    var receiver: (any LoopMessageReceiver)?
    var code: UInt8
    var generation: UInt32
    var position: Int
  }

  /// The deadline sits in the heap itself, so that sifting compares neighbours in memory.
  private struct Node {
    var deadline: UInt64
    var slot: UInt32
  }

  private var slots: [Slot] = []
  private var freeSlots: [UInt32] = []
  private var heap: [Node] = []

  package init() {}

  package var count: Int { heap.count }

  package var isEmpty: Bool { heap.isEmpty }

  package var earliest: UInt64? { heap.first?.deadline }

  package mutating func schedule(
    at deadline: UInt64, receiver: any LoopMessageReceiver, code: UInt8
  ) -> TimerToken {
    let slot: UInt32
    if let free = freeSlots.popLast() {
      slot = free
      slots[Int(slot)].receiver = receiver
      slots[Int(slot)].code = code
    } else {
      slot = UInt32(truncatingIfNeeded: slots.count)
      slots.append(Slot(receiver: receiver, code: code, generation: 0, position: 0))
    }
    heap.append(Node(deadline: deadline, slot: slot))
    siftUp(heap.count - 1)
    return TimerToken(slot: slot, generation: slots[Int(slot)].generation)
  }

  /// False when the token is stale.
  @discardableResult
  package mutating func reschedule(_ token: TimerToken, at deadline: UInt64) -> Bool {
    guard let position = position(of: token) else { return false }
    heap[position].deadline = deadline
    restore(position)
    return true
  }

  /// False when the token is stale.
  @discardableResult
  package mutating func cancel(_ token: TimerToken) -> Bool {
    guard let position = position(of: token) else { return false }
    _ = remove(at: position)
    return true
  }

  /// Takes out one timer whose deadline is `now` or earlier, the earliest first.
  package mutating func popExpired(now: UInt64) -> Expired? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    return remove(at: 0)
  }

  private func position(of token: TimerToken) -> Int? {
    let index = Int(token.slot)
    guard index < slots.count, slots[index].receiver != nil,
      slots[index].generation == token.generation
    else { return nil }
    return slots[index].position
  }

  private mutating func remove(at position: Int) -> Expired? {
    let slot = heap[position].slot
    let last = heap.removeLast()
    if position < heap.count {
      heap[position] = last
      restore(position)
    }
    let index = Int(slot)
    slots[index].generation &+= 1
    freeSlots.append(slot)
    guard let receiver = slots[index].receiver.take() else { return nil }
    return Expired(receiver: receiver, code: slots[index].code)
  }

  private mutating func restore(_ position: Int) {
    let parent = (position - 1) / 2
    if position > 0, heap[position].deadline < heap[parent].deadline {
      siftUp(position)
    } else {
      siftDown(position)
    }
  }

  private mutating func siftUp(_ start: Int) {
    let node = heap[start]
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard node.deadline < heap[parent].deadline else { break }
      place(heap[parent], at: position)
      position = parent
    }
    place(node, at: position)
  }

  private mutating func siftDown(_ start: Int) {
    let node = heap[start]
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
      guard heap[child].deadline < node.deadline else { break }
      place(heap[child], at: position)
      position = child
    }
    place(node, at: position)
  }

  private mutating func place(_ node: Node, at position: Int) {
    heap[position] = node
    slots[Int(node.slot)].position = position
  }
}
