/// Who runs next: limits in all, per host and of bytes, rates, holds, priorities, and hosts in turn by deficit
/// round robin. Pure: told of inputs, starts and ends, it says what is to be done now.
///
/// A host stands in exactly one place: in a ring while one of its tickets could start as far as the host is
/// concerned, among the timers while only time has to pass, in neither while it has nothing waiting or all its
/// places are taken.
struct BatchScheduler {
  typealias Instant = MonotonicInstant

  enum Turn: Equatable {
    /// Begin this one.
    case start(Int)
    /// There is room, and nothing that was read can use it: read another input.
    case read
    /// Nothing before an exchange ends, a result is taken, or this time comes.
    case wait(until: Instant?)
  }

  /// How a host took an exchange.
  enum Verdict: Equatable {
    case answered
    /// 429, 503 or a time limit.
    case overloaded
    /// Anything that tells nothing of the load: a refused connection, a cancelled task.
    case other
  }

  private struct Entry {
    var host = 0
    var priority = 0
    var startedAt: Instant?
    var reserved: Int64 = 0
  }

  /// Hosts that have something to start, by the priority of their most urgent ticket.
  private struct Ring {
    let priority: Int
    var hosts = BatchQueue<(host: Int, stamp: UInt64)>()
  }

  private let limits: BatchLimits
  private let lookahead: Int
  private let byteLimit: Int64
  private var ramp: BatchRamp
  private var entries: [Entry] = []
  private var freeEntries: [Int] = []
  private var hosts: [BatchHost] = []
  private var freeHosts: [Int] = []
  private var hostIndex: [String: Int] = [:]
  private var hostsBeforeSweep = 4096
  private var rings: [Ring] = []
  /// Hosts that stand in a ring.
  private var linedUp = 0
  private var timers = BatchTimers()
  private var meanBytes = 0.0
  /// Whether nothing waits for its time any more.
  private var isHurried = false
  private(set) var running = 0
  /// Tickets that were read and haven't been started, those that wait for a repeat included.
  private(set) var waiting = 0
  /// Bytes of what runs, reckoned, and of results that nobody has taken.
  private(set) var heldBytes: Int64 = 0
  /// Whether more inputs may be read at all.
  var mayRead = true
  /// Whether results wait for a consumer that is behind.
  var isHeldByConsumer = false

  init(_ limits: BatchLimits, lookahead: Int, begin: Instant) {
    self.limits = limits
    self.lookahead = lookahead
    byteLimit = limits.bytesInFlight?.bytes ?? .max
    ramp = BatchRamp(total: limits.total, isOn: limits.rampsUp, begin: begin)
  }

  /// Hosts that something is remembered of, for tests.
  var knownHosts: Int { hostIndex.count }

  /// The batch begins now: the ramp is measured from here.
  mutating func begins(at now: Instant) {
    ramp = BatchRamp(total: limits.total, isOn: limits.rampsUp, begin: now)
  }

  // MARK: what happens

  /// An input was read; returns its ticket.
  mutating func add(host name: String, priority: Int, now: Instant) -> Int {
    let host = index(ofHost: name, now)
    let ticket = freeEntries.popLast() ?? entries.count
    let entry = Entry(host: host, priority: priority)
    if ticket == entries.count { entries.append(entry) } else { entries[ticket] = entry }
    waiting += 1
    let wasTop = hosts[host].topPriority
    hosts[host].add(ticket, priority: priority)
    // One more behind others changes nothing; it is in its place already.
    if hosts[host].waiting == 1 || wasTop.map({ priority > $0 }) ?? true { place(host, now) }
    return ticket
  }

  /// What is to be done now.
  mutating func next(now: Instant) -> Turn {
    wake(now)
    guard running < limits.total, !isHeldByConsumer else { return .wait(until: nil) }
    guard running < ramp.limit(at: now) else { return .wait(until: ramp.nextGrowth(after: now)) }
    guard hasRoomForBytes else { return .wait(until: nil) }
    if let ticket = startNext(now) { return .start(ticket) }
    if mayRead, waiting < lookahead { return .read }
    return .wait(until: timers.earliest)
  }

  /// Whether `next` would say anything but wait; cheap, and at times true too often.
  func hasMore(now: Instant) -> Bool {
    guard running < limits.total, !isHeldByConsumer, hasRoomForBytes, running < ramp.limit(at: now) else {
      return false
    }
    return linedUp > 0 || mayRead && waiting < lookahead || timers.earliest.map { $0 <= now } ?? false
  }

  /// When to ask again even if nothing happens; nil where only an event can help.
  func nextDeadline(now: Instant) -> Instant? {
    guard running < limits.total, !isHeldByConsumer, hasRoomForBytes else { return nil }
    guard running < ramp.limit(at: now) else { return ramp.nextGrowth(after: now) }
    return timers.earliest.flatMap { $0 > now ? $0 : nil }
  }

  /// From now on nothing waits for its time: what is left ends at once.
  mutating func hurry(now: Instant) {
    isHurried = true
    for ticket in timers.takeTickets() { timers.insert(.ticket(ticket), at: now) }
    for host in hosts.indices {
      hosts[host].heldUntil = nil
      hosts[host].tokens = nil
      place(host, now)
    }
  }

  /// The size of a running body is known.
  mutating func sized(_ ticket: Int, bytes: Int64) {
    heldBytes += bytes - entries[ticket].reserved
    entries[ticket].reserved = bytes
  }

  /// An exchange has ended, having brought `transferred` bytes. The result holds `held` of them until `taken`.
  mutating func finished(_ ticket: Int, _ verdict: Verdict, transferred: Int64, held: Int64, now: Instant) {
    let host = stop(ticket)
    heldBytes += held
    ramp.finished()
    if transferred > 0 || verdict == .answered {
      meanBytes += (Double(transferred) - meanBytes) / 32
      hosts[host].transferred(transferred)
    }
    let started = entries[ticket].startedAt
    judge(host, verdict, startedAt: started, now)
    freeEntries.append(ticket)
    place(host, now)
  }

  /// An exchange has ended and is to be made again, not before this time.
  mutating func again(_ ticket: Int, _ verdict: Verdict, at time: Instant, now: Instant) {
    let host = stop(ticket)
    judge(host, verdict, startedAt: entries[ticket].startedAt, now)
    entries[ticket].startedAt = nil
    waiting += 1
    hosts[host].repeats += 1
    timers.insert(.ticket(ticket), at: isHurried ? now : time)
    place(host, now)
  }

  /// The host of a ticket wants to be left alone until this time (`Retry-After`).
  mutating func hold(hostOf ticket: Int, until: Instant, now: Instant) {
    if isHurried { return }
    let host = entries[ticket].host
    hosts[host].heldUntil = max(until, hosts[host].heldUntil ?? until)
    place(host, now)
  }

  /// The host of a ticket wants this much time between two requests (a crawl delay).
  mutating func slow(hostOf ticket: Int, to delay: Duration, now: Instant) {
    if isHurried { return }
    let host = entries[ticket].host
    let rate = 1 / max(0.001, delay / .seconds(1))
    if let tokens = hosts[host].tokens, tokens.rate <= rate { return }
    var tokens = TokenBucket(rate: rate, burst: 1, now: now)
    _ = tokens.take(at: now)
    hosts[host].tokens = tokens
    place(host, now)
  }

  /// Bytes of results were taken by the consumer.
  mutating func taken(bytes: Int64) { heldBytes -= bytes }

  /// All that wait, in no order; they are forgotten.
  mutating func takeWaiting() -> [Int] {
    var tickets = timers.takeTickets()
    for host in hosts.indices {
      tickets += hosts[host].takeAll()
      hosts[host].stamp &+= 1
      hosts[host].place = .nowhere
    }
    rings = []
    linedUp = 0
    waiting = 0
    freeEntries += tickets
    return tickets
  }

  // MARK: hosts

  private mutating func index(ofHost name: String, _ now: Instant) -> Int {
    if let index = hostIndex[name] { return index }
    if hostIndex.count >= hostsBeforeSweep { sweep(now) }
    var host = BatchHost(name: name)
    if let adaptation = limits.adaptation {
      host.adaptive = BatchAdaptiveLimit(adaptation, maximum: limits.perHost)
    }
    if let rate = limits.ratePerHost, !isHurried {
      host.tokens = TokenBucket(rate: 1 / (rate.interval / .seconds(1)), burst: Double(rate.burst), now: now)
    }
    let index: Int
    if let free = freeHosts.popLast() {
      index = free
      // Entries of rings and timers may still name this place.
      host.stamp = hosts[free].stamp &+ 1
      hosts[free] = host
    } else {
      index = hosts.count
      hosts.append(host)
    }
    hostIndex[name] = index
    return index
  }

  /// Forgets hosts that nobody waits for and of which nothing must be remembered.
  private mutating func sweep(_ now: Instant) {
    for (name, index) in hostIndex where hosts[index].isIdle {
      if let held = hosts[index].heldUntil, held > now { continue }
      if hosts[index].tokens?.isFull(at: now) == false { continue }
      hostIndex[name] = nil
      freeHosts.append(index)
    }
    hostsBeforeSweep = max(4096, 2 * hostIndex.count)
  }

  private mutating func judge(_ host: Int, _ verdict: Verdict, startedAt: Instant?, _ now: Instant) {
    guard let startedAt else { return }
    let running = hosts[host].running + 1
    switch verdict {
    case .answered: hosts[host].adaptive?.answered(after: now - startedAt, running: running)
    case .overloaded: hosts[host].adaptive?.overloaded(startedAt: startedAt, now: now)
    case .other: break
    }
  }

  private func limit(of host: Int) -> Int {
    min(limits.perHost, hosts[host].adaptive?.limit ?? limits.perHost)
  }

  /// Puts a host where it belongs after a change; what stood elsewhere is void by its stamp. One that stands there
  /// already keeps its turn.
  private mutating func place(_ host: Int, _ now: Instant) {
    let place = place(for: host, now)
    guard place != hosts[host].place else { return }
    if case .ring = hosts[host].place { linedUp -= 1 }
    hosts[host].stamp &+= 1
    hosts[host].place = place
    switch place {
    case .nowhere: break
    case .timer(let due): timers.insert(.host(host, stamp: hosts[host].stamp), at: due)
    case .ring(let priority):
      hosts[host].heldUntil = nil
      linedUp += 1
      let index = rings.firstIndex { $0.priority <= priority } ?? rings.endIndex
      if index == rings.endIndex || rings[index].priority != priority {
        rings.insert(Ring(priority: priority), at: index)
      }
      rings[index].hosts.append((host, hosts[host].stamp))
    }
  }

  private mutating func place(for host: Int, _ now: Instant) -> BatchHost.Place {
    guard hosts[host].waiting > 0, hosts[host].running < limit(of: host) else { return .nowhere }
    var due = hosts[host].heldUntil ?? now
    if let tokens = hosts[host].tokens?.tokens(at: now), tokens < 1, let rate = hosts[host].tokens?.rate {
      // A hair later, so that the token is surely there.
      due = max(due, now + .seconds((1 - tokens) / rate) + .microseconds(1))
    }
    return due > now ? .timer(due) : .ring(priority: hosts[host].topPriority ?? 0)
  }

  private mutating func wake(_ now: Instant) {
    while let subject = timers.popDue(now) {
      switch subject {
      case .host(let host, let stamp):
        guard hosts[host].stamp == stamp else { continue }
        hosts[host].place = .nowhere
        place(host, now)
      case .ticket(let ticket):
        let host = entries[ticket].host
        hosts[host].repeats -= 1
        hosts[host].addFirst(ticket, priority: entries[ticket].priority)
        place(host, now)
      }
    }
  }

  // MARK: starting

  private var hasRoomForBytes: Bool {
    // One exchange always runs, however large, once all results were taken.
    running == 0 && heldBytes <= 0 || heldBytes + Int64(meanBytes) <= byteLimit
  }

  private mutating func startNext(_ now: Instant) -> Int? {
    while linedUp > 0, !rings.isEmpty {
      guard let (host, stamp) = rings[0].hosts.popFirst() else {
        rings.removeFirst()
        continue
      }
      guard hosts[host].stamp == stamp else { continue }
      hosts[host].deficit += 1
      guard hosts[host].deficit >= hosts[host].cost else {
        rings[0].hosts.append((host, stamp))
        continue
      }
      hosts[host].place = .nowhere
      linedUp -= 1
      guard let ticket = hosts[host].takeFirst() else { continue }
      // Who has nothing waiting saves nothing up.
      hosts[host].deficit = hosts[host].waiting == 0 ? 0 : hosts[host].deficit - hosts[host].cost
      begin(ticket, of: host, now)
      return ticket
    }
    return nil
  }

  private mutating func begin(_ ticket: Int, of host: Int, _ now: Instant) {
    waiting -= 1
    running += 1
    hosts[host].running += 1
    _ = hosts[host].tokens?.take(at: now)
    let reserved = Int64(meanBytes)
    entries[ticket].startedAt = now
    entries[ticket].reserved = reserved
    heldBytes += reserved
    place(host, now)
  }

  private mutating func stop(_ ticket: Int) -> Int {
    let host = entries[ticket].host
    running -= 1
    hosts[host].running -= 1
    heldBytes -= entries[ticket].reserved
    entries[ticket].reserved = 0
    return host
  }
}
