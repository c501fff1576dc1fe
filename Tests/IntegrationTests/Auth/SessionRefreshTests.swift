import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@Suite struct SessionRefreshTests {
  /// The failure of a task that returns a text.
  private func failed(_ task: Task<String, any Error>) async -> HTTPError? {
    await failure { try await task.value }
  }

  private func results(
    _ count: Int, _ client: Client, _ url: String
  ) async -> [Result<Int, HTTPError>] {
    await withTaskGroup(of: Result<Int, HTTPError>.self) { group in
      for _ in 0..<count {
        group.addTask {
          do throws(HTTPError) {
            let response = try await client.send(.get(url))
            _ = try await response.body.drain()
            return .success(response.status.code)
          } catch {
            return .failure(error)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test func `a thousand requests with an expired token make one refresh and a thousand successes`()
    async throws
  {
    let server = try AuthServer()
    try await server.with { client, auth in
      let results = await results(1000, client, server.url("/"))
      let codes = results.compactMap { try? $0.get() }
      #expect(codes.count == 1000)
      #expect(codes.allSatisfy { $0 == 200 })
      let counts = server.shared.with { [$0.refreshes, $0.served] }
      #expect(counts == [1, 1000])
      let got10 = try await auth.session()
      #expect(got10 == Session(token: "t1", refreshToken: "r1"))
    }
  }

  @Test(arguments: [401, 500])
  func `a failing refresh is one call, and all who wait fail with one cause`(_ status: Int) async throws {
    let server = try AuthServer { $0.refreshAnswer = [.response(status: status, body: "no")] }
    // However slow the machine is: the failure holds until all have asked.
    try await server.with(Session(token: "old", refreshToken: "r0"), { $0.failureHold = .seconds(600) }) {
      client, auth in
      let results = await results(1000, client, server.url("/"))
      var texts: Set<String> = []
      for result in results {
        switch result {
        case .success(let code): Issue.record("status \(code)")
        case .failure(let error):
          #expect(error.kind == .loginDenied)
          texts.insert(error.message)
        }
      }
      #expect(results.count == 1000)
      #expect(texts.count == 1)
      #expect(server.shared.with { $0.refreshes } == 1)
      let got11 = try await auth.session()
      #expect(got11 == Session(token: "old", refreshToken: "r0"))
    }
  }

  @Test func `a request is sent again once, and a second refusal is the response`() async throws {
    let server = try AuthServer {
      $0.refreshAnswer = [.response(body: #"{"sessionToken":"useless","refreshToken":"r"}"#)]
    }
    try await server.with { client, auth in
      let response = try await client.send(.get(server.url("/")))
      #expect(response.status == 401)
      #expect(server.shared.with { [$0.refreshes, $0.refused] } == [1, 2])
    }
  }

  @Test func `a body that can be read once gets the refusal, and no refresh is made`() async throws {
    let server = try AuthServer()
    try await server.with { client, auth in
      let body = RequestBody.stream(
        AsyncStream<[UInt8]> {
          $0.yield([1]); $0.finish()
        })
      let response = try await client.send(.post(server.url("/"), body: body))
      #expect(response.status == 401)
      #expect(server.shared.with { $0.refreshes } == 0)
      let again = try await client.send(.post(server.url("/"), body: .string("x")))
      #expect(again.status == 200)
    }
  }

  @Test func `a cancelled waiter leaves alone, the others get the new token`() async throws {
    let server = try AuthServer { $0.refreshGate = .waitForSignal("go") }
    try await server.with { client, auth in
      let tasks = (0..<5).map { _ in Task { try await client.text(.get(server.url("/"))) } }
      #expect(await eventually { server.shared.with { $0.refreshes == 1 && $0.refused == 5 } })
      tasks[2].cancel()
      let left = await failed(tasks[2])
      #expect(left == .cancelled)
      server.server.open("go")
      for (index, task) in tasks.enumerated() where index != 2 {
        let got12 = try await task.value
        #expect(got12 == "yes")
      }
      #expect(server.shared.with { $0.refreshes } == 1)
    }
  }

  @Test func `the refresh stops when nobody waits for it any more`() async throws {
    let server = try AuthServer { $0.refreshGate = .stall }
    try await server.with { client, auth in
      let tasks = (0..<3).map { _ in Task { try await client.text(.get(server.url("/"))) } }
      #expect(await eventually { server.shared.with { $0.refreshes == 1 && $0.refused == 3 } })
      for task in tasks { task.cancel() }
      for task in tasks {
        let left = await failed(task)
        #expect(left == .cancelled)
      }
      #expect(await eventually { client.isIdle })
    }
  }

  @Test func `a refresh token that was replaced on the server isn't lost when everybody has left`()
    async throws
  {
    let server = try AuthServer { $0.refreshGate = .waitForSignal("go") }
    try await server.with(
      Session(token: "old", refreshToken: "r0"), { $0.abandonedRefreshLimit = .seconds(60) }
    ) { client, auth in
      let task = Task { try await client.text(.get(server.url("/"))) }
      #expect(await eventually { server.shared.with { $0.refreshes == 1 } })
      task.cancel()
      let left = await failed(task)
      #expect(left == .cancelled)
      let changes = auth.changes
      server.server.open("go")
      for await change in changes where change == .refreshed { break }
      let kept = try await auth.session()
      #expect(kept?.refreshToken == "r1")
      let got = try await client.text(.get(server.url("/")))
      #expect(got == "yes")
      #expect(server.shared.with { $0.refreshes } == 1)
    }
  }

  @Test func `a refresh that takes too long fails for all, and the session stays`() async throws {
    let server = try AuthServer { $0.refreshGate = .stall }
    try await server.with(Session(token: "old", refreshToken: "r0"), { $0.refreshLimit = .milliseconds(200) })
    {
      client, auth in
      let error = await failure { try await client.text(.get(server.url("/"))) }
      #expect(error?.kind == .loginDenied)
      #expect(error?.message.contains("longer") == true)
      let got13 = try await auth.session()?.token
      #expect(got13 == "old")
      #expect(await eventually { client.isIdle })
    }
  }

  @Test func `a refresh by a closure may go through the very client`() async throws {
    let server = try AuthServer()
    let auth = Mutex<SessionAuthenticator?>(nil)
    let options = server.options { options in
      options.refresher = .closure { session, context in
        // Protected, and refused: it must not wait for the refresh that it is part of.
        let refused = try await context.client.send(.get(server.url("/")))
        #expect(refused.status == 401)
        let body = #"{"refreshToken":"\#(session.refreshToken ?? "")"}"#
        let answer = try await context.client.text(.post(server.url("/refresh"), body: .string(body)))
        #expect(answer.contains("t1"))
        return Session(token: "t1")
      }
    }
    let made = SessionAuthenticator(
      store: MemorySessionStore(Session(token: "old", refreshToken: "r0")), options: options)
    auth.withLock { $0 = made }
    try await TestClient.with({
      $0.credentials = [ScopedCredential(made, for: OriginPattern(server.server.url))]
    }) { client in
      let got14 = try await client.text(.get(server.url("/")))
      #expect(got14 == "yes")
      // No refresh token came: the old one stays.
      let got15 = try await made.session()
      #expect(got15 == Session(token: "t1", refreshToken: "r0"))
    }
    await server.server.stop()
  }

  @Test func `a logout during a refresh ends it, and nothing of it is kept`() async throws {
    let server = try AuthServer { $0.refreshGate = .waitForSignal("go") }
    try await server.with { client, auth in
      var changes = auth.changes.makeAsyncIterator()
      let task = Task { try await client.text(.get(server.url("/"))) }
      #expect(await eventually { server.shared.with { $0.refreshes == 1 } })
      try await auth.logout()
      let ended = await failed(task)
      #expect(ended?.kind == .loginDenied)
      server.server.open("go")
      let got16 = await changes.next()
      #expect(got16 == .loggedOut)
      #expect(await eventually { client.isIdle })
      let got17 = try await auth.hasSession()
      #expect(got17 == false)
      let got18 = try await client.send(.get(server.url("/"))).status
      #expect(got18 == 401)
    }
  }

  @Test func `a token is refreshed before its end, without a refusal`() async throws {
    let server = try AuthServer()
    // Over by the store's word.
    try await server.with(Session(token: "old", refreshToken: "r0", expiresAt: 1)) { client, auth in
      let got19 = try await client.text(.get(server.url("/")))
      #expect(got19 == "yes")
      #expect(server.shared.with { [$0.refreshes, $0.refused] } == [1, 0])
    }
  }

  @Test func `a refusal that no token helps isn't refreshed`() async throws {
    let server = try ScriptedServer(script: [
      .respondEach([
        .response(
          status: 401, fields: [("WWW-Authenticate", "Bearer error=\"insufficient_scope\", scope=\"admin\"")])
      ])
    ])
    let refreshes = Atomic(0)
    var options = SessionOptions()
    options.refresher = .closure { session, _ in
      refreshes.add(1, ordering: .relaxed)
      return session
    }
    let auth = SessionAuthenticator(store: MemorySessionStore(Session(token: "t")), options: options)
    try await TestClient.with({ $0.credentials = [ScopedCredential(auth, for: OriginPattern(server.url))] }) {
      client in
      let got20 = try await client.send(.get(server.url("/"))).status
      #expect(got20 == 401)
      #expect(refreshes.load(ordering: .relaxed) == 0)
    }
    await server.stop()
  }

  @Test func `without a refresh token the refusal stands, and asking for a refresh is an error`() async throws
  {
    let server = try AuthServer()
    try await server.with(Session(token: "old")) { client, auth in
      let got21 = try await client.send(.get(server.url("/"))).status
      #expect(got21 == 401)
      let error = await failure { try await auth.refresh(using: client) }
      #expect(error?.kind == .loginDenied)
      let got22 = try await auth.session()?.token
      #expect(got22 == "old")
      #expect(server.shared.with { $0.refreshes } == 0)
    }
  }

  @Test func `a request may do without any refresh`() async throws {
    let server = try AuthServer()
    try await server.with(Session(token: "old", refreshToken: "r0", expiresAt: 1)) { client, auth in
      let response = try await client.send(Request.get(server.url("/")).withoutRefresh())
      #expect(response.status == 401)
      #expect(server.shared.with { $0.refreshes } == 0)
    }
  }

  @Test func `a call's time limit holds while it waits for a refresh`() async throws {
    let server = try AuthServer { $0.refreshGate = .stall }
    try await server.with { client, auth in
      var request = Request.get(server.url("/"))
      var limits = TimeLimits()
      limits.total = .milliseconds(300)
      request.timeouts = limits
      let limited = request
      let error = await failure { try await client.text(limited) }
      #expect(error?.kind == .totalTimeout)
      #expect(await eventually { client.isIdle })
    }
  }

  @Test func `two processes with one file make one refresh`() async throws {
    let folder = try TestFolder()
    let server = try AuthServer()
    let path = folder("session")
    try await FileSessionStore(path: path).save(Session(token: "old", refreshToken: "r0"))
    let one = SessionAuthenticator(store: FileSessionStore(path: path), options: server.options())
    let two = SessionAuthenticator(store: FileSessionStore(path: path), options: server.options())
    for auth in [one, two] {
      let got23 = try await auth.session()?.token
      #expect(got23 == "old")
    }
    func run(_ auth: SessionAuthenticator) async throws {
      try await TestClient.with({
        $0.credentials = [ScopedCredential(auth, for: OriginPattern(server.server.url))]
      }) { client in try await client.expect("yes", from: .get(server.url("/"))) }
    }
    async let first: Void = run(one)
    async let second: Void = run(two)
    _ = try await (first, second)
    #expect(server.shared.with { $0.refreshes } == 1)
    let got24 = try await two.session()
    #expect(got24 == Session(token: "t1", refreshToken: "r1"))
    await server.server.stop()
  }
}

@Suite struct SessionLoginTests {
  @Test func `a marked login is saved, its answer still reaches the caller`() async throws {
    let server = try AuthServer()
    try await server.with(nil) { client, auth in
      var changes = auth.changes.makeAsyncIterator()
      let got25 = try await auth.hasSession()
      #expect(got25 == false)
      let login = Request.post(server.url("/login"), body: .string("{}"))
      let unmarked = try await client.text(login.noAuth())
      #expect(unmarked.contains("t0"))
      let got26 = try await auth.hasSession()
      #expect(got26 == false)
      let response = try await client.send(login.noAuth().savesSession())
      let text = String(decoding: try await response.body.collect(upTo: .mebibytes(1)), as: UTF8.self)
      #expect(text == unmarked)
      let got27 = await changes.next()
      #expect(got27 == .saved)
      let got28 = try await auth.session()
      #expect(got28 == Session(token: "t0", refreshToken: "r0"))
      let got29 = try await client.text(.get(server.url("/")))
      #expect(got29 == "yes")
    }
  }

  @Test func `the looser rule saves from any answer with the field`() async throws {
    let server = try AuthServer()
    try await server.with(nil, { $0.saving = .anySuccess }) { client, auth in
      _ = try await client.text(.get(server.url("/login")))
      let got30 = try await auth.session()?.token
      #expect(got30 == "t0")
    }
  }

  @Test func `an answer longer than a login's is passed on whole`() async throws {
    let text = String(repeating: "x", count: 3 << 20)
    let server = try ScriptedServer(script: .response(body: text))
    let auth = SessionAuthenticator()
    try await TestClient.with { client in
      let request = Request.get(server.url("/")).savesSession(in: auth)
      let got31 = try await client.text(request)
      #expect(got31 == text)
      let got32 = try await auth.hasSession()
      #expect(got32 == false)
    }
    await server.stop()
  }

  @Test func `a store that can't be read fails the request, and nothing is sent`() async throws {
    let server = try AuthServer()
    let store = ClosureSessionStore(
      load: { () async throws(HTTPError) in throw HTTPError(.readFailed, phase: .file, message: "broken") },
      save: { _ async throws(HTTPError) in }, clear: { () async throws(HTTPError) in })
    let auth = SessionAuthenticator(store: store)
    try await TestClient.with({
      $0.credentials = [ScopedCredential(auth, for: OriginPattern(server.server.url))]
    }) { client in
      let got33 = await failure { try await client.text(.get(server.url("/"))) }?.kind
      #expect(got33 == .readFailed)
      #expect(server.server.requests.isEmpty)
    }
    await server.server.stop()
  }
}
