import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Refresh endpoints that do what they shouldn't.
@Suite struct HostileRefreshTests {
  private static let json = [("Content-Type", "application/json")]

  private static let answers: [[Step]] = [
    [.response(body: "")],
    [.response(fields: json, body: "[]")],
    [.response(fields: json, body: "null")],
    [.response(fields: json, body: #"{"sessionToken":7}"#)],
    [.response(fields: json, body: #"{"sessionToken":""}"#)],
    [.response(fields: json, body: #"{"sessionToken":"a b"}"#)],
    [.response(fields: json, body: #"{"sessionToken":"a\r\nX-Evil: 1"}"#)],
    [.response(fields: json, body: #"{"sessionToken":"tökén"}"#)],
    [.response(fields: json, body: #"{"sessionToken":"t1""#)],
    [.response(fields: json, body: String(repeating: "[", count: 100_000))],
    [.response(fields: json, body: "{\"x\":\"" + String(repeating: "y", count: 2 << 20) + "\"}")],
    [.response(status: 302, fields: [("Location", "/elsewhere")], body: "")],
    [.response(status: 500, body: "no")],
    [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), .close],
    [.send("nonsense\r\n\r\n"), .close],
    [.reset],
  ]

  @Test(arguments: answers.indices)
  func `an answer that holds no usable token fails the refresh, and the session stays as it was`(
    _ index: Int
  ) async throws {
    let server = try AuthServer { $0.refreshAnswer = Self.answers[index] }
    try await server.with { client, auth in
      let error = await failure { try await client.text(.get(server.url("/"))) }
      #expect(error?.kind == .loginDenied)
      let kept = try await auth.session()
      #expect(kept?.token == "old")
      #expect(kept?.refreshToken == "r0")
      // Nothing went anywhere else, and nothing was asked again.
      #expect(server.server.requests.map(\.target) == ["/", "/refresh"])
    }
  }

  @Test(arguments: [
    "-1", "1e999", "9223372036854775807", "99999999999999999999", "\"soon\"", "{}", "null", "0.5",
  ])
  func `a lifetime that can't be is no reason to refresh again`(_ lifetime: String) async throws {
    let body = #"{"sessionToken":"t0","refreshToken":"r1","expires_in":\#(lifetime)}"#
    let server = try AuthServer { $0.refreshAnswer = [.response(fields: Self.json, body: body)] }
    try await server.with { client, _ in
      for _ in 0..<3 {
        let got = try await client.text(.get(server.url("/")))
        #expect(got == "yes")
      }
      #expect(server.shared.with { $0.refreshes } == 1)
    }
  }
}
