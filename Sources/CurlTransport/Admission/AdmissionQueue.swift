/// Waiting tickets of one host: larger priority first, else in order. Those that have left are skipped.
struct AdmissionQueue {
  private var tickets: [AdmissionTicket] = []
  private var start = 0
  /// At most so many of them have left.
  private var left = 0

  /// Whether nobody waits; forgets those that have left.
  var isEmpty: Bool {
    mutating get { first == nil }
  }

  var first: AdmissionTicket? {
    mutating get {
      while start < tickets.count, tickets[start].state != .waiting { start += 1 }
      if start == tickets.count {
        tickets.removeAll(keepingCapacity: true)
        start = 0
        left = 0
        return nil
      }
      return tickets[start]
    }
  }

  mutating func add(_ ticket: AdmissionTicket) {
    if start > 1024, start * 2 > tickets.count {
      tickets.removeFirst(start)
      start = 0
    }
    var index = tickets.count
    while index > start, tickets[index - 1].priority < ticket.priority { index -= 1 }
    tickets.insert(ticket, at: index)
  }

  /// One that waits here has left. When more than half of many have, they are forgotten: they hold all of an exchange.
  mutating func oneHasLeft() {
    left += 1
    guard left > 64, left * 2 > tickets.count - start else { return }
    tickets = tickets[start...].filter { $0.state == .waiting }
    start = 0
    left = 0
  }

  var waitingCount: Int { tickets[start...].count { $0.state == .waiting } }

  mutating func removeFirst() { start += 1 }

  mutating func takeAll() -> [AdmissionTicket] {
    let all = tickets[start...].filter { $0.state == .waiting }
    tickets = []
    start = 0
    left = 0
    return all
  }
}
