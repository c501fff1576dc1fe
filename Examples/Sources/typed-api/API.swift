import PenstockTesting
import Synchronization

/// The other side of the example: a small API on this machine. Its first token is good for two requests.
final class API: Sendable {
  private struct State {
    var token = 1
    var uses = 0
  }

  let server: ScriptedServer

  init() throws {
    let state = Mutex(State())
    server = try ScriptedServer { request in
      switch (request.method, request.target) {
      case ("POST", "/v1/login"): return Self.tokens(1)
      case ("POST", "/v1/refresh"):
        let number = state.withLock { state in
          state.token += 1
          return state.token
        }
        return Self.tokens(number)
      case ("GET", let target) where target.hasPrefix("/v1/users/"):
        let isGood = state.withLock { state in
          state.uses += 1
          if state.uses > 2, state.token == 1 { return false }
          return request.value(of: "Authorization") == "Bearer t\(state.token)"
        }
        guard isGood else { return Self.json(#"{"code":"expired"}"#, status: 401) }
        let id = target.dropFirst("/v1/users/".count)
        guard id != "404" else { return Self.json(#"{"code":"unknown_user"}"#, status: 404) }
        return Self.json(#"{"id":\#(id),"full_name":"User \#(id)"}"#)
      default: return Self.json(#"{"code":"no_such_path"}"#, status: 404)
      }
    }
  }

  private static func tokens(_ number: Int) -> [Step] {
    json(#"{"accessToken":"t\#(number)","refreshToken":"r\#(number)"}"#)
  }

  private static func json(_ text: String, status: Int = 200) -> [Step] {
    [.response(status: status, fields: [("Content-Type", "application/json")], body: text)]
  }
}
