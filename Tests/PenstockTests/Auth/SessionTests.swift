import Glibc
import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct SessionTokensTests {
  private func session(_ tokens: SessionTokens, _ body: String, headers: HTTPFields = [:]) -> Session? {
    tokens.session(headers: headers, body: Array(body.utf8), now: 1000)
  }

  @Test func `tokens come from the places that are named`() {
    #expect(
      session(.sessionTokens, #"{"sessionToken":"a","refreshToken":"b"}"#)
        == Session(token: "a", refreshToken: "b"))
    #expect(session(.accessTokens, #"{"accessToken":"a","expiresIn":60}"#)?.expiresAt == 1060)
    #expect(session(.fields(token: "data.t", refreshToken: nil), #"{"data":{"t":"x"}}"#)?.token == "x")
    let headers = SessionTokens(token: .header("X-Token"), refreshToken: .field("r"))
    #expect(
      session(headers, #"{"r":"q"}"#, headers: ["x-token": "h"]) == Session(token: "h", refreshToken: "q"))
    #expect(session(headers, "no json", headers: ["x-token": "h"])?.token == "h")
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"sessionToken":""}"#, #"{"sessionToken":7}"#, #"{"sessionToken":null}"#,
  ])
  func `an answer without a token holds no session`(_ body: String) {
    #expect(session(.sessionTokens, body) == nil)
  }

  @Test func `a web token tells its own end, whatever the clocks say`() throws {
    func token(_ claims: String) -> String {
      "e30." + Base64URL.encode(Array(claims.utf8)) + ".sig"
    }
    #expect(JWTClaims(token(#"{"exp":1300,"iat":1000}"#)) != nil)
    // Issued by a clock an hour ahead: it still lives 300 s from now.
    #expect(
      session(.oauth2, #"{"access_token":"\#(token(#"{"exp":4900,"iat":4600}"#))"}"#)?.expiresAt == 1300)
    #expect(session(.oauth2, #"{"access_token":"\#(token(#"{"exp":1100}"#))"}"#)?.expiresAt == 1100)
    for bad in ["", "a.b", "a.b.c.d", "a.!!.c", "e30.W10.x", "..", token("{"), token("[]")] {
      #expect(JWTClaims(bad) == nil, "\(bad)")
    }
    #expect(JWTClaims(token("{}")) == JWTClaims(token(#"{"exp":"x"}"#)))
    let huge = token(#"{"exp":9223372036854775807,"iat":-9223372036854775807}"#)
    #expect(session(.oauth2, #"{"access_token":"\#(huge)"}"#)?.expiresAt == nil)
  }

  @Test func `a session is written and read, and never shown`() throws {
    let session = Session(
      token: "tok-secret", refreshToken: "ref-secret", expiresAt: 5, scheme: "DPoP", proofKeyID: "key")
    #expect(Session(encoded: session.encoded) == session)
    #expect(Session(encoded: Array("nonsense".utf8)) == nil)
    var shown = "\(session) \(String(reflecting: session))"
    dump(session, to: &shown)
    dump([session], to: &shown)
    #expect(!shown.contains("secret"))
  }
}

@Suite struct SessionStoreTests {
  @Test func `a file is 0600, replaced in one step, and read back`() async throws {
    let folder = try TestFolder()
    let store = FileSessionStore(path: folder("session"))
    #expect(try await store.load() == nil)
    try await store.save(Session(token: "a"))
    try await store.save(Session(token: "b", refreshToken: "c"))
    #expect(try await store.load() == Session(token: "b", refreshToken: "c"))
    #expect(folder.names == ["session"])
    var facts = stat()
    #expect(stat(folder("session"), &facts) == 0)
    #expect(facts.st_mode & 0o777 == 0o600)
    try await store.clear()
    try await store.clear()
    #expect(try await store.load() == nil)
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o602] as [mode_t])
  func `a file that others may read or write is refused`(_ mode: mode_t) async throws {
    let folder = try TestFolder()
    let store = FileSessionStore(path: folder("session"))
    try await store.save(Session(token: "tok-secret"))
    chmod(folder("session"), mode)
    let error = await #expect(throws: HTTPError.self) { _ = try await store.load() }
    #expect(error?.kind == .readFailed)
    #expect(error?.description.contains("tok-secret") == false)
  }

  @Test func `a file that holds no session is told, not taken for a logout`() async throws {
    let folder = try TestFolder()
    folder.write("garbage", to: "session")
    chmod(folder("session"), 0o600)
    let auth = SessionAuthenticator(store: FileSessionStore(path: folder("session")))
    for _ in 0..<2 {
      let error = await #expect(throws: HTTPError.self) { _ = try await auth.hasSession() }
      #expect(error?.kind == .readFailed)
    }
    #expect(folder.text("session") == "garbage")
  }

  @Test func `the lock lets one in at a time, also through two stores`() async throws {
    let folder = try TestFolder()
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          let store = FileSessionStore(path: folder("session"))
          _ = try? await store.exclusively { () async throws(HTTPError) in
            await counter.enter()
            await Task.yield()
            await counter.leave()
          }
        }
      }
    }
    #expect(await counter.total == 16)
    #expect(await counter.most == 1)
  }

  private actor Counter {
    private(set) var total = 0
    private(set) var most = 0
    private var inside = 0
    func enter() {
      total += 1
      inside += 1
      most = max(most, inside)
    }
    func leave() { inside -= 1 }
  }

  @Test func `the environment gives tokens and keeps nothing`() async throws {
    setenv("PENSTOCK_TEST_TOKEN", "t", 1)
    let store = EnvironmentSessionStore(token: "PENSTOCK_TEST_TOKEN", refreshToken: "PENSTOCK_TEST_NO_SUCH")
    #expect(try await store.load() == Session(token: "t"))
    #expect(try await EnvironmentSessionStore(token: "PENSTOCK_TEST_NO_SUCH").load() == nil)
  }

  @Test func `a closure store that fails leaves the session as it was`() async throws {
    let store = ClosureSessionStore(
      load: { () async throws(HTTPError) in Session(token: "old") },
      save: { _ async throws(HTTPError) in throw HTTPError(.writeFailed, phase: .file, message: "full") },
      clear: { () async throws(HTTPError) in })
    let auth = SessionAuthenticator(store: store)
    let error = await #expect(throws: HTTPError.self) { try await auth.save(Session(token: "new")) }
    #expect(error?.kind == .writeFailed)
    #expect(try await auth.session()?.token == "old")
    try await auth.logout()
    #expect(try await auth.session() == nil)
  }
}

@Suite struct SessionClockTests {
  private func state() -> SessionState {
    SessionState(machine: RefreshStateMachine(hasSession: false, window: nil, holdOff: .zero))
  }

  @Test func `a token is refreshed ahead of its end, and not before half its life`() {
    var state = state()
    state.adopt(
      Session(token: "t", expiresAt: 1100), ahead: .seconds(30), wall: 1000, now: .seconds(5), isFresh: true)
    #expect(!state.look(now: .seconds(74)).isExpiring)
    #expect(state.look(now: .seconds(75)).isExpiring)
    state.adopt(
      Session(token: "t", expiresAt: 1010), ahead: .seconds(30), wall: 1000, now: .zero, isFresh: true)
    #expect(!state.look(now: .seconds(4)).isExpiring)
    #expect(state.look(now: .seconds(5)).isExpiring)
  }

  @Test func `a wall clock that is years off makes no endless refreshing`() {
    var state = state()
    // Fresh from the server, and over by this machine's clock: the server knows better.
    state.adopt(
      Session(token: "t", expiresAt: 1000), ahead: .seconds(30), wall: 99_999_999, now: .zero, isFresh: true)
    #expect(!state.look(now: .seconds(100)).isExpiring)
    // From a store: worth one refresh.
    state.adopt(
      Session(token: "t", expiresAt: 1000), ahead: .seconds(30), wall: 99_999_999, now: .zero, isFresh: false)
    #expect(state.look(now: .zero).isExpiring)
    for end in [Int64.min, .max, -1] {
      state.adopt(
        Session(token: "t", expiresAt: end), ahead: .seconds(30), wall: 1000, now: .zero, isFresh: true)
      #expect(!state.look(now: .seconds(1_000_000)).isExpiring)
    }
  }

  @Test func `without a token or an end nothing expires`() {
    var state = state()
    state.adopt(
      Session(token: nil, expiresAt: 1), ahead: .seconds(30), wall: 1000, now: .zero, isFresh: false)
    #expect(!state.look(now: .seconds(10)).isExpiring)
    state.adopt(Session(token: "t"), ahead: .seconds(30), wall: 1000, now: .zero, isFresh: false)
    #expect(!state.look(now: .seconds(10)).isExpiring)
  }
}
