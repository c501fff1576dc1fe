/// Who may run: limits in all and per host, one request first until a host's protocol is known, long-lived
/// streams apart, hosts in turn. Pure but for the tickets' own state.
struct AdmissionStateMachine {
  enum HostProtocol: Equatable {
    /// A secure host that nobody has talked to.
    case unknown
    /// A secure host that a connection stands to: libcurl knows its protocol, we will with the first head.
    case connected
    case http1
    case http2
  }

  private struct Host {
    var proto: HostProtocol
    /// Running calls, long-lived ones apart.
    var running = 0
    /// Running HTTP/2 streams by loop.
    var streams: [Int: Int] = [:]
    var queue = AdmissionQueue()
    var isInRing = false
  }

  let limits: AdmissionLimits
  private var hosts: [String: Host] = [:]
  /// Hosts with waiting calls, in turn.
  private var ring: [String] = []
  private var longQueue = AdmissionQueue()
  private(set) var running = 0
  private(set) var runningLong = 0
  private(set) var waiting = 0
  private var isClosed = false

  init(limits: AdmissionLimits) { self.limits = limits }

  enum EnterAction: Equatable { case start, wait, refuse }

  mutating func enter(_ ticket: AdmissionTicket) -> EnterAction {
    guard !isClosed else { return .refuse }
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
    var host = hosts.removeValue(forKey: ticket.origin) ?? Host(proto: ticket.isSecure ? .unknown : .http1)
    defer { hosts[ticket.origin] = host }
    if host.queue.isEmpty, running < limits.total, mayRun(ticket, host) {
      run(ticket, &host)
      return .start
    }
    ticket.state = .waiting
    waiting += 1
    host.queue.add(ticket)
    if !host.isInRing {
      host.isInRing = true
      ring.append(ticket.origin)
    }
    return .wait
  }

  private func mayRun(_ ticket: AdmissionTicket, _ host: Host) -> Bool {
    switch host.proto {
    case .unknown: host.running == 0
    case .connected, .http1: host.running < limits.perHost
    case .http2: host.streams[ticket.loop, default: 0] < limits.streamsPerConnection
    }
  }

  private mutating func run(_ ticket: AdmissionTicket, _ host: inout Host) {
    ticket.state = .running
    running += 1
    host.running += 1
    if ticket.isSecure {
      ticket.countsAsStream = true
      host.streams[ticket.loop, default: 0] += 1
    }
  }

  /// The exchange is over or given up; returns those that may start now.
  mutating func leave(_ ticket: AdmissionTicket) -> [AdmissionTicket] {
    switch ticket.state {
    case .new, .left:
      return []
    case .waiting:
      // It stays in its queue until its turn, and is skipped then.
      ticket.state = .left
      waiting -= 1
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
    guard var host = hosts.removeValue(forKey: ticket.origin) else { return }
    host.running -= 1
    if ticket.countsAsStream { host.streams[ticket.loop, default: 1] -= 1 }
    // Its first request has failed before the protocol was known: again one goes first.
    if host.proto == .connected, host.running == 0 { host.proto = .unknown }
    // A plain host that nobody uses is forgotten; what is known of a secure one is kept.
    if host.running > 0 || !host.queue.isEmpty || (ticket.isSecure && host.proto != .unknown) {
      hosts[ticket.origin] = host
    }
    if hosts.count > 10_000 { hosts = hosts.filter { $0.value.running > 0 || $0.value.isInRing } }
  }

  /// A connection to the host stands.
  mutating func connected(_ ticket: AdmissionTicket) -> [AdmissionTicket] {
    guard var host = hosts[ticket.origin], host.proto == .unknown else { return [] }
    host.proto = .connected
    hosts[ticket.origin] = host
    return pump()
  }

  /// The protocol of a host is known now.
  mutating func learned(_ ticket: AdmissionTicket, isHTTP2: Bool) -> [AdmissionTicket] {
    guard var host = hosts[ticket.origin], ticket.isSecure else { return [] }
    let proto: HostProtocol = isHTTP2 ? .http2 : .http1
    guard host.proto != proto else { return [] }
    host.proto = proto
    hosts[ticket.origin] = host
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
    for origin in ring { all += hosts[origin]?.queue.takeAll() ?? [] }
    ring = []
    waiting = 0
    for ticket in all { ticket.state = .left }
    return all
  }

  private mutating func pump() -> [AdmissionTicket] {
    guard !ring.isEmpty else { return [] }
    var started: [AdmissionTicket] = []
    var fruitless = 0
    while running < limits.total, !ring.isEmpty, fruitless < ring.count {
      let origin = ring.removeFirst()
      guard var host = hosts.removeValue(forKey: origin) else { continue }
      if let next = host.queue.first, mayRun(next, host) {
        host.queue.removeFirst()
        waiting -= 1
        run(next, &host)
        started.append(next)
        fruitless = 0
      } else {
        fruitless += 1
      }
      if host.queue.isEmpty {
        host.isInRing = false
      } else {
        ring.append(origin)
      }
      hosts[origin] = host
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
