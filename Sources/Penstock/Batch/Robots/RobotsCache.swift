import Synchronization

/// What hosts say in their robots.txt, each asked once: who comes meanwhile waits for the same answer.
final class RobotsCache: Sendable {
  private struct Entry {
    var rules: RobotsRules?
    var expires: MonotonicInstant?
    /// Those who wait for it; some may have left.
    var waiting: [UInt64] = []
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var sleepers = Sleepers<UInt64>()
    var lastWaiter: UInt64 = 0
    /// When the next request of a host may go, where it wants time between them.
    var turns: [String: MonotonicInstant] = [:]
  }

  /// So many are remembered; then those whose time is over go, and if that is not enough, all.
  private static let limit = 10_000
  /// Larger files are read so far (RFC 9309 §2.5 asks for 500 KiB).
  private static let sizeLimit = 512 << 10

  private let lifetime: Duration
  private let state = Mutex(State())

  init(lifetime: Duration) { self.lifetime = lifetime }

  func rules(
    of origin: String, agent: String, client: Client
  ) async throws(HTTPError) -> RobotsRules {
    let key = agent + " " + origin
    while true {
      if Task.isCancelled { throw .cancelled }
      switch look(key) {
      case .known(let rules): return rules
      case .fetch: Task { self.settle(key, await Self.fetch(origin, client), agent) }
      case .wait: break
      }
      await wait(for: key)
    }
  }

  /// How long to wait for one's turn at a host that wants time between requests.
  func turn(of origin: String, every delay: Duration, now: MonotonicInstant) -> Duration {
    state.withLock { state in
      if state.turns.count >= Self.limit { state.turns = state.turns.filter { $0.value > now } }
      let turn = max(now, state.turns[origin] ?? now)
      state.turns[origin] = turn + delay
      return turn - now
    }
  }

  private enum Look {
    case known(RobotsRules)
    /// Nobody has asked yet.
    case fetch
    case wait
  }

  private func look(_ key: String) -> Look {
    let now = MonotonicInstant.now
    return state.withLock { state in
      if let entry = state.entries[key] {
        guard let rules = entry.rules else { return .wait }
        if let expires = entry.expires, expires > now { return .known(rules) }
      } else if state.entries.count >= Self.limit {
        Self.makeRoom(&state, now)
      }
      state.entries[key] = Entry()
      return .fetch
    }
  }

  private static func makeRoom(_ state: inout State, _ now: MonotonicInstant) {
    state.entries = state.entries.filter {
      $0.value.rules == nil || $0.value.expires.map { $0 > now } ?? true
    }
    if state.entries.count >= limit { state.entries = state.entries.filter { $0.value.rules == nil } }
  }

  /// Returns when the answer is there, or at once when it is already, or the task is cancelled.
  private func wait(for key: String) async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await state.sleep(id, in: \.sleepers) { state in
      guard let entry = state.entries[key], entry.rules == nil else { return false }
      state.entries[key]?.waiting.append(id)
      return true
    }
  }

  private func settle(_ key: String, _ answer: RobotsAnswer, _ agent: String) {
    let lifetime = answer.isTemporary ? min(lifetime, .seconds(60)) : lifetime
    let rules = answer.rules(for: agent)
    let waiting = state.withLock { state in
      let waiting = state.entries[key]?.waiting ?? []
      state.entries[key] = Entry(rules: rules, expires: .now + lifetime)
      return waiting.compactMap { state.sleepers.wake($0) }
    }
    for sleeper in waiting { sleeper.resume() }
  }

  private static func fetch(_ origin: String, _ client: Client) async -> RobotsAnswer {
    var request = Request.get(origin + "/robots.txt")
    request.redirects = {
      var policy = RedirectPolicy(); policy.limit = 5; return policy
    }()
    var limits = client.configuration.timeouts
    limits.total = min(limits.total ?? .seconds(30), .seconds(30))
    request.timeouts = limits
    do throws(HTTPError) {
      let response = try await client.send(request)
      switch response.status.code {
      case 200..<300: return .text(try await beginning(of: response.body))
      // RFC 9309 §2.3.1.3: unavailable, so nothing is forbidden.
      case 400..<500 where response.status != 429: return .absent
      default: return .unreachable
      }
    } catch {
      // §2.3.1.2: too many redirects are as if there were none. §2.3.1.4: unreachable, so all is forbidden.
      return error.kind == .tooManyRedirects ? .absent : .unreachable
    }
  }

  private static func beginning(of body: ResponseBody) async throws(HTTPError) -> [UInt8] {
    var bytes: [UInt8] = []
    var iterator = body.makeAsyncIterator()
    while bytes.count < sizeLimit, let chunk = try await iterator.next() { chunk.append(to: &bytes) }
    return Array(bytes.prefix(sizeLimit))
  }
}

/// What a host answered.
enum RobotsAnswer: Sendable {
  case text([UInt8])
  case absent
  case unreachable

  /// Asked again soon.
  var isTemporary: Bool { if case .unreachable = self { true } else { false } }

  func rules(for agent: String) -> RobotsRules {
    switch self {
    case .text(let bytes): RobotsRules(bytes, agent: agent)
    case .absent: .allowingAll
    case .unreachable: .forbiddingAll
    }
  }
}
