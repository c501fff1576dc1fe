// Typed calls of an API whose tokens expire: a login, values, one refresh for all that need it, the API's own errors.
// The API runs on this machine, inside this program: typed-api
import Penstock

struct Login: Encodable, Sendable {
  var user: String
  var password: String
}
struct User: Decodable, Sendable {
  var id: Int
  var fullName: String
}
struct APIError: Decodable, Error { var code: String }

/// A call as a type.
struct GetUser: Endpoint {
  typealias Value = User
  let id: Int
  var path: RequestPath { "/users/\(id)" }
}

let api = try API()
var session = SessionOptions()
session.tokens = .accessTokens
session.refresher = .endpoint("refresh")
let auth = SessionAuthenticator(options: session)
var configuration = ClientConfiguration()
// The token goes to this origin and to no other.
configuration.credentials = [ScopedCredential(auth, for: OriginPattern(api.server.url))]
configuration.api.coding(.webAPI)
let client = Client(baseURL: api.server.url("/v1"), configuration: configuration)

try await client.path("login").noAuth().savesSession().post(Login(user: "me", password: "secret")).send()
// Eight at once, with a token that is good for two: those that are refused wait for one refresh and go again.
let names = try await withThrowingTaskGroup(of: String.self) { group in
  for id in 1...8 { group.addTask { try await client.send(GetUser(id: id)).value.fullName } }
  var names: [String] = []
  for try await name in group { names.append(name) }
  return names.sorted()
}
print(names)
do {
  let user: User = try await client.path("users", 404).decodingErrors(as: APIError.self).value()
  print(user)
} catch {
  print(error.apiError(as: APIError.self)?.code ?? "-", "|", error)
}
print(api.server.requests.map(\.target).filter { !$0.hasPrefix("/v1/users") })
await client.shutdown()
await api.server.stop()
