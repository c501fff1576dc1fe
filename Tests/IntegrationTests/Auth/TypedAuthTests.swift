import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite struct TypedAuthTests {
  private struct Login: Encodable, Sendable { var user: String }
  private struct Answer: Decodable, Sendable { var name: String }

  @Test func `typed calls log in, and refresh by an endpoint below the base URL`() async throws {
    let server = try AuthServer()
    var options = SessionOptions()
    options.refresher = .endpoint("refresh")
    let auth = SessionAuthenticator(options: options)
    var configuration = ClientConfiguration()
    configuration.credentials = [ScopedCredential(auth, for: OriginPattern(server.server.url))]
    let client = Client(baseURL: server.server.url, configuration: configuration)
    let answer: Answer = try await client.path("login").noAuth().savesSession().post(Login(user: "u")).value()
    #expect(answer.name == "n")
    let session = try await auth.session()
    #expect(session == Session(token: "t0", refreshToken: "r0"))
    // The server takes another token from now on.
    server.shared.with { $0.token = "changed" }
    let text = try await client.path("me").get().string()
    #expect(text == "yes")
    #expect(server.shared.with { [$0.refreshes, $0.served] } == [1, 1])
    let alone = await failure { try await client.path("me").noAuth().get().string() }
    #expect(alone?.status == 401)
    let own = await failure { try await client.path("me").authorized(by: .bearer("other")).get().string() }
    #expect(own?.status == 401)
    #expect(server.shared.with { $0.refreshes } == 1)
    await client.shutdown(.immediate)
    await server.server.stop()
  }
}
