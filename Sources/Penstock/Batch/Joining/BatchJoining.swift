/// Which requests are under way or were answered, so that identical ones are fetched once. Pure.
struct BatchJoining {
  enum Entry {
    /// Nobody has asked for it: the input leads.
    case lead
    /// This one is under way for it.
    case follow(BatchItem)
    /// It was answered with what came of this one.
    case known(BatchItem)
  }

  private let memory: BatchOptions.JoinMemory
  private var leaders: [String: BatchItem] = [:]
  private var known: [String: BatchItem] = [:]
  private var order = BatchQueue<String>()
  private var bytes: Int64 = 0

  init(_ memory: BatchOptions.JoinMemory) { self.memory = memory }

  var knownCount: Int { known.count }

  func look(_ key: String) -> Entry {
    if let leader = leaders[key] { return .follow(leader) }
    if let item = known[key] { return .known(item) }
    return .lead
  }

  mutating func lead(_ key: String, _ item: BatchItem) { leaders[key] = item }

  /// The leader has ended; what came of it is remembered, unless there is nothing to remember.
  mutating func ended(_ key: String, _ item: BatchItem?) {
    leaders[key] = nil
    guard let item, memory.count > 0, item.bytes <= memory.bytes.bytes else { return }
    if known.updateValue(item, forKey: key) == nil { order.append(key) }
    bytes += item.bytes
    while known.count > memory.count || bytes > memory.bytes.bytes, let oldest = order.popFirst() {
      if let forgotten = known.removeValue(forKey: oldest) { bytes -= forgotten.bytes }
    }
  }

  /// What makes two requests the same; nil for one that can't be joined.
  static func key(_ request: Request) -> String? {
    // What a request wants otherwise than its client can't be compared.
    guard request.hasNoChoices else { return nil }
    switch request.body.content {
    case .stream, .deferred: return nil
    case .empty, .bytes, .file: break
    }
    return BatchIdentity.key(request)
  }
}
