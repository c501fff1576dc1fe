/// Who may run: limits in all and per host, one request first until a host's protocol is known, long-lived
/// streams apart, hosts in turn. Pure but for the state of tickets and hosts, which belong to one machine.
struct AdmissionStateMachine {
  enum HostProtocol: Equatable {
    /// A secure host that nobody has talked to.
    case unknown
    /// A secure host that a connection stands to: libcurl knows its protocol, we will with the first head.
    case connected
    case http1
    case http2
  }

  /// Shared with its tickets, so that whoever leaves needs no look-up.
  final class Host {
    fileprivate let origin: String
    fileprivate var proto: HostProtocol
    /// Running calls, long-lived ones apart.
    fileprivate var running = 0
    /// Running HTTP/2 streams by loop.
    fileprivate var streams: [Int: Int] = [:]
    /// Waiting calls by loop: over HTTP/2 a loop whose connection is full must not stop the others.
    fileprivate var queues: [Int: AdmissionQueue] = [:]
    fileprivate var isInRing = false

    fileprivate init(origin: String, isSecure: Bool) {
      self.origin = origin
      proto = isSecure ? .unknown : .http1
    }

    fileprivate func mayRun(onLoop loop: Int, _ limits: AdmissionLimits) -> Bool {
      switch proto {
      case .unknown: running == 0
      case .connected, .http1: running < limits.perHost
      case .http2: streams[loop, default: 0] < limits.streamsPerConnection
      }
    }

    /// Whether nobody waits; forgets those that have left.
    fileprivate var isQueueEmpty: Bool {
      for loop in queues.keys where queues[loop]?.isEmpty != false { queues[loop] = nil }
      return queues.isEmpty
    }

    /// Takes the waiting call whose turn it is among those that may run.
    fileprivate func takeNext(_ limits: AdmissionLimits) -> AdmissionTicket? {
      var best: AdmissionTicket?
      for loop in queues.keys where mayRun(onLoop: loop, limits) {
        guard let next = queues[loop]?.first else { continue }
        if let found = best, !next.goesBefore(found) { continue }
        best = next
      }
      if let best { queues[best.loopIndex]?.removeFirst() }
      return best
    }

    fileprivate var isInUse: Bool { running > 0 || isInRing }
  }

  /// How many wait, by origin; those of whom none waits are left out.
  var waitingByOrigin: [String: Int] {
    hosts.compactMapValues { host in
      let count = host.queues.values.reduce(0) { $0 + $1.waitingCount }
      return count == 0 ? nil : count
    }
  }

  let limits: AdmissionLimits
  private var hosts: [String: Host] = [:]
  /// The host of the last ticket, which is mostly that of the next.
  private var lastHost: Host?
  /// Hosts with waiting calls, in turn.
  private var ring: [String] = []
  private var longQueue = AdmissionQueue()
  private(set) var running = 0
  private(set) var runningLong = 0
  private(set) var waiting = 0
  /// Hosts that something is remembered of, for tests.
  var knownHosts: Int { hosts.count }
  private var entered: UInt64 = 0
  private var isClosed = false
  /// So many hosts are remembered before the unused ones are dropped.
  private var hostsBeforeSweep = 10_000

  init(limits: AdmissionLimits) { self.limits = limits }

  enum EnterAction: Equatable { case start, wait, refuse }

  mutating func enter(_ ticket: AdmissionTicket) -> EnterAction {
    guard !isClosed else { return .refuse }
    entered += 1
    ticket.order = entered
    if ticket.isLongLived {
      guard runningLong < limits.longLived else {
        ticket.state = .waiting
        waiting += 1
        longQueue.add(ticket)
        return .wait
      }
      ticket.state = .runningLong
      runningLong += 1
      return .start
    }
    let host = host(of: ticket)
    // Whoever waits can't run, so nobody is overtaken.
    if running < limits.total, host.mayRun(onLoop: ticket.loopIndex, limits) {
      running += 1
      Self.run(ticket, host)
      return .start
    }
    ticket.state = .waiting
    waiting += 1
    ticket.host = host
    host.queues[ticket.loopIndex, default: AdmissionQueue()].add(ticket)
    if !host.isInRing {
      host.isInRing = true
      ring.append(ticket.origin)
    }
    return .wait
  }

  private mutating func host(of ticket: AdmissionTicket) -> Host {
    if let lastHost, lastHost.origin == ticket.origin { return lastHost }
    if let host = hosts[ticket.origin] {
      lastHost = host
      return host
    }
    // Hosts that nobody uses are forgotten when there are many.
    if hosts.count > hostsBeforeSweep {
      hosts = hosts.filter { $0.value.isInUse }
      hostsBeforeSweep = max(10_000, 2 * hosts.count)
    }
    let host = Host(origin: ticket.origin, isSecure: ticket.isSecure)
    hosts[ticket.origin] = host
    lastHost = host
    return host
  }

  private static func run(_ ticket: AdmissionTicket, _ host: Host) {
    ticket.state = .running
    ticket.host = host
    host.running += 1
    if ticket.isSecure {
      ticket.countsAsStream = true
      host.streams[ticket.loopIndex, default: 0] += 1
    }
  }

  /// The exchange is over or given up; returns those that may start now.
  mutating func leave(_ ticket: AdmissionTicket) -> [AdmissionTicket] {
    switch ticket.state {
    case .new, .left:
      return []
    case .waiting:
      // It stays in its queue until its turn and is skipped then, or until many like it stand there.
      ticket.state = .left
      waiting -= 1
      if let host = ticket.host.take() {
        host.queues[ticket.loopIndex]?.oneHasLeft()
      } else {
        longQueue.oneHasLeft()
      }
      return []
    case .running:
      ticket.state = .left
      endRunning(ticket)
      return pump()
    case .runningLong:
      ticket.state = .left
      runningLong -= 1
      return pumpLong()
    }
  }

  private mutating func endRunning(_ ticket: AdmissionTicket) {
    running -= 1
    guard let host = ticket.host.take() else { return }
    host.running -= 1
    if ticket.countsAsStream { host.streams[ticket.loopIndex, default: 1] -= 1 }
    // Its first request has failed before the protocol was known: again one goes first.
    if host.proto == .connected, host.running == 0 { host.proto = .unknown }
  }

  /// A connection to the host stands.
  mutating func connected(_ ticket: AdmissionTicket) -> [AdmissionTicket] {
    guard let host = hosts[ticket.origin], host.proto == .unknown else { return [] }
    host.proto = .connected
    return pump()
  }

  /// The protocol of a host is known now.
  mutating func learned(_ ticket: AdmissionTicket, isHTTP2: Bool) -> [AdmissionTicket] {
    guard let host = hosts[ticket.origin], ticket.isSecure else { return [] }
    let proto: HostProtocol = isHTTP2 ? .http2 : .http1
    guard host.proto != proto else { return [] }
    host.proto = proto
    return pump()
  }

  /// The exchange turned out to be long-lived: it leaves its place among the calls.
  mutating func promote(_ ticket: AdmissionTicket) -> [AdmissionTicket] {
    guard ticket.state == .running, runningLong < limits.longLived else { return [] }
    ticket.state = .runningLong
    runningLong += 1
    endRunning(ticket)
    return pump()
  }

  /// Nobody is let in any more; returns those that waited.
  mutating func close() -> [AdmissionTicket] {
    isClosed = true
    var all = longQueue.takeAll()
    for origin in ring {
      for loop in hosts[origin]?.queues.keys.sorted() ?? [] {
        all += hosts[origin]?.queues[loop]?.takeAll() ?? []
      }
      hosts[origin]?.isInRing = false
    }
    ring = []
    waiting = 0
    for ticket in all {
      ticket.state = .left
      ticket.host = nil
    }
    return all
  }

  private mutating func pump() -> [AdmissionTicket] {
    guard !ring.isEmpty else { return [] }
    var started: [AdmissionTicket] = []
    var fruitless = 0
    while running < limits.total, !ring.isEmpty, fruitless < ring.count {
      let origin = ring.removeFirst()
      guard let host = hosts[origin] else { continue }
      let next = host.takeNext(limits)
      if let next {
        waiting -= 1
        running += 1
        Self.run(next, host)
        started.append(next)
      }
      host.isInRing = !host.isQueueEmpty
      if host.isInRing { ring.append(origin) }
      // A host that leaves the ring says nothing about those still in it.
      fruitless = next != nil ? 0 : fruitless + (host.isInRing ? 1 : 0)
    }
    return started
  }

  private mutating func pumpLong() -> [AdmissionTicket] {
    var started: [AdmissionTicket] = []
    while runningLong < limits.longLived, let next = longQueue.first {
      longQueue.removeFirst()
      waiting -= 1
      next.state = .runningLong
      runningLong += 1
      started.append(next)
    }
    return started
  }
}
