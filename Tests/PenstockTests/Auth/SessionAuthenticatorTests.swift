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
