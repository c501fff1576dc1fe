import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

@Suite struct SessionAuthenticatorTests {
  private struct NoTransport: Transport {
    func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
      throw HTTPError(.transport, phase: .queue, message: "nothing is sent here")
    }
  }

  private static let client = Client(transport: NoTransport())

  private enum End: Sendable, Equatable { case served, refused, failed(HTTPError.Kind) }

  /// What the stage does of a call: at most one refresh, then the answer stands.
  private static func call(_ auth: SessionAuthenticator, _ valid: SharedText) async -> End {
    do throws(HTTPError) {
      let origin = try HTTPOrigin(of: "https://a.example")
      for resends in 0..<2 {
        var request = Request.get("https://a.example/")
        var context = CredentialContext(client: client, origin: origin, hop: 0, resends: resends)
        try await auth.authorize(&request, &context)
        await Task.yield()
        if request.headers["Authorization"] == "Bearer \(valid.value)" { return .served }
        let verdict = try await auth.answered(ResponseHead(status: 401), to: request, context)
        if verdict == .deliver { return .refused }
      }
      return .refused
    } catch {
      return .failed(error.kind)
    }
  }

  @Test func `random cancellations, logouts, logins and outcomes leave nobody waiting`() async throws {
    for seed in 0..<150 {
      var random = SeededGenerator(seed: UInt64(seed))
      let valid = SharedText("t1")
      let runs = Atomic(0)
      let fails = random.next(below: 3) == 0
      let yields = random.next(below: 30)
      var options = SessionOptions()
      options.refreshWindow = nil
      options.refresher = .closure { session, _ in
        let run = runs.add(1, ordering: .relaxed).newValue
        for _ in 0..<yields { await Task.yield() }
        if fails { throw HTTPError(.loginDenied, phase: .head, message: "no") }
        let token = "t\(run)"
        valid.value = token
        return Session(token: token, refreshToken: "r")
      }
      let auth = SessionAuthenticator(
        store: MemorySessionStore(Session(token: "old", refreshToken: "r")), options: options)
      let tasks = (0..<20).map { _ in Task { await Self.call(auth, valid) } }
      for _ in 0..<6 {
        for _ in 0..<random.next(below: 20) { await Task.yield() }
        switch random.next(below: 8) {
        case 0: try await auth.logout()
        case 1: try await auth.save(Session(token: "new", refreshToken: "r"))
        default: tasks[random.next(below: tasks.count)].cancel()
        }
      }
      if seed % 5 == 0 { for task in tasks { task.cancel() } }
      for task in tasks {
        let end = await task.value
        switch end {
        case .served, .refused, .failed(.cancelled), .failed(.loginDenied): break
        case .failed(let kind): Issue.record("\(kind)")
        }
      }
      let left = auth.state.withLock { [$0.sleepers.count, $0.machine.waiters.count] }
      #expect(left == [0, 0])
    }
  }

  @Test func `the failure of a refresh is one error for all, and its own kind of exit`() async throws {
    let runs = Atomic(0)
    var options = SessionOptions()
    options.refresher = .closure { _, _ in
      runs.add(1, ordering: .relaxed)
      throw HTTPError(.connectFailed, phase: .connect, message: "nobody there")
    }
    options.failureHold = .seconds(3600)
    let auth = SessionAuthenticator(store: MemorySessionStore(Session(token: "old")), options: options)
    let valid = SharedText("other")
    await withTaskGroup(of: End.self) { group in
      for _ in 0..<200 { group.addTask { await Self.call(auth, valid) } }
      for await end in group { #expect(end == .failed(.loginDenied)) }
    }
    #expect(runs.load(ordering: .relaxed) == 1)
    #expect(HTTPError.Kind.loginDenied.code == 67)
    #expect(try await auth.session()?.token == "old")
  }

  /// A store whose operations wait for the test.
  private final class HeldStore: SessionStore {
    private let stored: Mutex<Session?>
    let began = Mutex(Set<String>())
    private let gates = Mutex<[String: Turn]>([:])

    init(_ session: Session?) { stored = Mutex(session) }

    var session: Session? { stored.withLock { $0 } }

    func hold(_ name: String) { gates.withLock { $0[name] = Turn() } }
    func release(_ name: String) { _ = gates.withLock { $0.removeValue(forKey: name) }?.end(.go) }

    private func pass(_ name: String) async {
      let gate = gates.withLock { $0[name] }
      began.withLock { _ = $0.insert(name) }
      // A store knows nothing of its callers' cancellation.
      await Task.detached { _ = await gate?.wait(limit: nil, clock: .system) }.value
    }

    func load() async throws(HTTPError) -> Session? {
      let session = stored.withLock { $0 }
      await pass("load")
      return session
    }

    func save(_ session: Session) async throws(HTTPError) {
      await pass("save")
      stored.withLock { $0 = session }
    }

    func clear() async throws(HTTPError) { stored.withLock { $0 = nil } }
  }

  @Test func `a logout while the store is read isn't undone by what was read`() async throws {
    let store = HeldStore(Session(token: "old", refreshToken: "r"))
    let auth = SessionAuthenticator(store: store)
    store.hold("load")
    let reading = Task { try await auth.session() }
    #expect(await reached { store.began.withLock { $0.contains("load") } })
    let leaving = Task { try await auth.logout() }
    #expect(await reached { auth.state.withLock { $0.isLoaded } })
    store.release("load")
    try await leaving.value
    #expect(try await reading.value == nil)
    #expect(try await auth.session() == nil)
    #expect(store.session == nil)
  }

  @Test func `a key that is noted during a logout doesn't keep the session`() async throws {
    let store = HeldStore(Session(token: "old", refreshToken: "r"))
    let auth = SessionAuthenticator(store: store)
    #expect(try await auth.hasSession())
    store.hold("save")
    let noting = Task { try await auth.setProofKey("key") }
    #expect(await reached { store.began.withLock { $0.contains("save") } })
    let leaving = Task { try await auth.logout() }
    #expect(await reached { auth.state.withLock { $0.session == nil } })
    store.release("save")
    try await noting.value
    try await leaving.value
    #expect(try await auth.session() == nil)
    #expect(store.session == nil)
  }

  @Test func `a key that is noted while a refresh is kept loses neither token nor key`() async throws {
    let store = HeldStore(Session(token: "old", refreshToken: "r1"))
    var options = SessionOptions()
    options.refresher = .closure { _, _ in Session(token: "new", refreshToken: "r2") }
    let auth = SessionAuthenticator(store: store, options: options)
    #expect(try await auth.hasSession())
    store.hold("save")
    let refreshing = Task { try await auth.refresh(using: Self.client) }
    #expect(await reached { store.began.withLock { $0.contains("save") } })
    // It waits in the queue behind the refresh, which the run may or may not have told by then.
    let noting = Task { try await auth.setProofKey("key") }
    store.release("save")
    try await refreshing.value
    try await noting.value
    let kept = Session(token: "new", refreshToken: "r2")
    #expect(store.session?.token == kept.token && store.session?.refreshToken == kept.refreshToken)
    #expect(store.session?.proofKeyID == "key")
    let known = try await auth.session()
    #expect(known?.proofKeyID == "key" && known?.token == "new")
  }

  @Test func `a cancelled request doesn't wait for a store that hangs`() async throws {
    let store = HeldStore(Session(token: "old"))
    let auth = SessionAuthenticator(store: store)
    store.hold("load")
    let call = Task { await Self.call(auth, SharedText("old")) }
    #expect(await reached { store.began.withLock { $0.contains("load") } })
    call.cancel()
    #expect(await call.value == .failed(.cancelled))
    store.release("load")
    #expect(try await auth.session()?.token == "old")
  }

  @Test func `a number that can't be is told by its name`() async throws {
    for edit in [
      { $0.refreshLimit = .seconds(-1) }, { $0.refreshWindow = .init(count: 0, per: .seconds(1)) },
      { $0.failureHold = .seconds(-1) }, { $0.abandonedRefreshLimit = .seconds(-1) },
      { $0.refreshAhead = .seconds(-1) }, { $0.field = "a b" },
    ] as [(inout SessionOptions) -> Void] {
      var options = SessionOptions()
      edit(&options)
      let auth = SessionAuthenticator(store: MemorySessionStore(Session(token: "t")), options: options)
      var request = Request.get("https://a.example/")
      var context = CredentialContext(
        client: Self.client, origin: try HTTPOrigin(of: request.url), hop: 0, resends: 0)
      let error = await #expect(throws: HTTPError.self) { try await auth.authorize(&request, &context) }
      #expect(error?.kind == .invalidConfiguration)
      #expect(error?.message.contains("SessionOptions.") == true)
    }
  }
}

/// A text that tasks share.
private final class SharedText: Sendable {
  private let text: Mutex<String>
  init(_ text: String) { self.text = Mutex(text) }
  var value: String {
    get { text.withLock { $0 } }
    set { text.withLock { $0 = newValue } }
  }
}
