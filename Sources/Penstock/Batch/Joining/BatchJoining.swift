/// Which requests are under way or were answered, so that identical ones are fetched once. Pure.
struct BatchJoining<Value> {
  struct Outcome {
    let result: Result<Value, HTTPError>
    let attempts: Int
    let duration: Duration
    let bytes: Int64
  }

  enum Entry {
    /// Nobody has asked for it: the input leads.
    case lead
    /// It is under way with this ticket.
    case follow(Int)
    /// It was answered.
    case known(Outcome)
  }

  private let memory: BatchOptions.JoinMemory
  private var leaders: [String: Int] = [:]
  private var known: [String: Outcome] = [:]
  private var order = BatchQueue<String>()
  private var bytes: Int64 = 0

  init(_ memory: BatchOptions.JoinMemory) { self.memory = memory }

  var knownCount: Int { known.count }

  func look(_ key: String) -> Entry {
    if let ticket = leaders[key] { return .follow(ticket) }
    if let outcome = known[key] { return .known(outcome) }
    return .lead
  }

  mutating func lead(_ key: String, _ ticket: Int) { leaders[key] = ticket }

  /// The leader has ended; what came of it is remembered, unless there is nothing to remember.
  mutating func ended(_ key: String, _ outcome: Outcome?) {
    leaders[key] = nil
    guard let outcome, memory.count > 0, outcome.bytes <= memory.bytes.bytes else { return }
    if known.updateValue(outcome, forKey: key) == nil { order.append(key) }
    bytes += outcome.bytes
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
