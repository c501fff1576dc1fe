import Penstock
import PenstockTesting
import StreamCore
import Synchronization

/// A server that takes one token at a time and renews it at `/refresh`.
final class AuthServer: Sendable {
  struct State: Sendable {
    var token = "t0"
    var refreshToken = "r0"
    var refreshes = 0
    var served = 0
    var refused = 0
    /// What a refresh does; nil renews.
    var refreshAnswer: [Step]?
    /// Before a refresh is answered.
    var refreshGate: Step?
  }

  let server: ScriptedServer
  /// The state that the server's threads work on.
  let shared: SharedState

  init(_ edit: (inout State) -> Void = { _ in }) throws {
    var initial = State()
    edit(&initial)
    let state = SharedState(initial)
    server = try ScriptedServer { request in state.answer(request) }
    shared = state
  }

  final class SharedState: Sendable {
    private let state: Mutex<State>
    init(_ state: State) { self.state = Mutex(state) }

    func with<Value: Sendable>(_ body: (inout sending State) -> sending Value) -> Value {
      state.withLock { body(&$0) }
    }

    func answer(_ request: RecordedRequest) -> [Step] {
      state.withLock { state in
        if request.target == "/refresh" {
          state.refreshes += 1
          let gate = state.refreshGate.map { [$0] } ?? []
          if let answer = state.refreshAnswer { return gate + answer }
          guard request.text.contains("\"\(state.refreshToken)\"") else {
            return gate + [.response(status: 400)]
          }
          state.token = "t\(state.refreshes)"
          state.refreshToken = "r\(state.refreshes)"
          let body = #"{"sessionToken":"\#(state.token)","refreshToken":"\#(state.refreshToken)"}"#
          return gate + [.response(fields: [("Content-Type", "application/json")], body: body)]
        }
        if request.target == "/login" {
          let body = #"{"sessionToken":"\#(state.token)","refreshToken":"\#(state.refreshToken)","name":"n"}"#
          return [.response(fields: [("Content-Type", "application/json")], body: body)]
        }
        guard request.value(of: "Authorization") == "Bearer \(state.token)" else {
          state.refused += 1
          return [.response(status: 401, body: "no")]
        }
        state.served += 1
        return [.response(body: "yes")]
      }
    }
  }

  func url(_ path: String) -> String { server.url(path) }

  func options(_ edit: (inout SessionOptions) -> Void = { _ in }) -> SessionOptions {
    var options = SessionOptions()
    options.refresher = .endpoint(url("/refresh"))
    edit(&options)
    return options
  }

  /// A client with a session of this server.
  func with(
    _ session: Session? = Session(token: "old", refreshToken: "r0"),
    _ edit: (inout SessionOptions) -> Void = { _ in },
    _ body: (Client, SessionAuthenticator) async throws -> Void
  ) async throws {
    let auth = SessionAuthenticator(store: MemorySessionStore(session), options: options(edit))
    try await TestClient.with({ configuration in
      configuration.credentials = [ScopedCredential(auth, for: OriginPattern(server.url))]
    }) { client in try await body(client, auth) }
    await server.stop()
  }
}
