/// Results that the consumer is done with, on their way back to those who made them.
///
/// Memory is best freed by the thread that has taken it: the C library keeps it by threads, and freed from another
/// one, block by block, both threads wait for each other's lock more often than for the network.
struct BatchSpent {
  /// What is larger is freed at once, by whoever has it.
  private static let largest: Int64 = 64 << 10
  /// So many wait at most: workers that have nothing to do free nothing.
  private static let most = 64

  /// By the loop whose workers free them.
  private var items: [[BatchItem]] = []
  private var count = 0

  mutating func give(_ spent: [BatchItem]) {
    for item in spent where item.bytes <= Self.largest && count < Self.most {
      while items.count <= item.home { items.append([]) }
      items[item.home].append(item)
      count += 1
    }
  }

  mutating func take(_ home: Int) -> [BatchItem] {
    guard home < items.count, !items[home].isEmpty else { return [] }
    var taken: [BatchItem] = []
    swap(&taken, &items[home])
    count -= taken.count
    return taken
  }
}
