import Foundation
import PenstockTesting
import Testing

@testable import PenstockCLI

@Suite struct CredentialCommandTests {
  private static let challenge = (
    "WWW-Authenticate", "Digest realm=\"r\", qop=\"auth\", algorithm=MD5, nonce=\"n1\""
  )

  private func digestServer() throws -> ScriptedServer {
    try ScriptedServer { request in
      request.value(of: "Authorization")?.hasPrefix("Digest username=\"user\"") == true
        ? [.response(body: "in")] : [.response(status: 401, fields: [Self.challenge], body: "out")]
    }
  }

  private func netrc(_ text: String) throws -> TemporaryFile { try TemporaryFile(Array(text.utf8)) }

  @Test func `digest proves the user, and one challenge serves all URLs`() async throws {
    let server = try digestServer()
    let run = try await CommandRun.run([
      "get", "--digest", "-u", "user:hush-hush", "-v", server.url("/a"), server.url("/b"),
    ])
    #expect(run.status == 0)
    #expect(run.output == "inin")
    #expect(!run.errors.contains("hush-hush"))
    #expect(server.requests.count == 3)
    #expect(server.requests.allSatisfy { $0.value(of: "Authorization")?.hasPrefix("Basic") != true })
    await server.stop()
  }

  @Test func `digest takes user and password from the URL too`() async throws {
    let server = try digestServer()
    let url = server.url("/a").replacingOccurrences(of: "http://", with: "http://user:hush-hush@")
    let run = try await CommandRun.run(["get", "--digest", url])
    #expect(run.output == "in")
    #expect(server.requests.count == 2)
    await server.stop()
  }

  @Test func `a challenged upload of standard input can't be sent again`() async throws {
    let server = try digestServer()
    let run = try await CommandRun.run(
      ["events", "--digest", "-u", "user:hush-hush", "-T", "-", server.url("/")], input: Data("all".utf8))
    #expect(run.status == 65)
    #expect(run.lines.last?["kind"] as? String == "replay")
    #expect(run.lines.last?["status"] as? Int == 401)
    #expect(server.requests.count == 1)
    await server.stop()
  }

  @Test func `a refused password is a response like any other`() async throws {
    let server = try ScriptedServer { _ in
      [.response(status: 401, fields: [Self.challenge], body: "out")]
    }
    let run = try await CommandRun.run(["get", "--digest", "-u", "user:x", server.url("/")])
    #expect(run.status == 0)
    #expect(run.output == "out")
    #expect(server.requests.count == 2)
    let refused = try await CommandRun.run(["get", "-f", "--digest", "-u", "user:x", server.url("/")])
    #expect(refused.status == 22)
    await server.stop()
  }

  @Test func `a netrc file gives users by host, the command line comes first`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let file = try netrc("machine 127.0.0.1 login me password hush-hush\n")
    for (extra, expected) in [
      ([], "Basic bWU6aHVzaC1odXNo"), (["-u", "a:b"], "Basic YTpi"), (["--bearer", "t"], "Bearer t"),
      (["-H", "Authorization: own"], "own"),
    ] {
      let run = try await CommandRun.run(
        ["get", "-v", "--netrc-file", file.path] + extra + [server.url("/")])
      #expect(run.status == 0)
      #expect(!run.errors.contains("hush-hush"))
      #expect(server.requests.last?.values(of: "Authorization") == [expected])
    }
    await server.stop()
  }

  @Test func `a netrc file that can't be read ends with 26 before any request`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let run = try await CommandRun.run(["get", "--netrc-file", "/no/such/netrc", server.url("/")])
    #expect(run.status == 26)
    #expect(run.errors.contains("/no/such/netrc"))
    #expect(server.requests.isEmpty)
    await server.stop()
  }

  @Test func `requests are signed for AWS`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let run = try await CommandRun.run([
      "get", "-v", "--aws-sigv4", "aws:amz:eu-west-1:s3", "-u", "AKID:hush-hush", server.url("/b?z=1&a=2"),
    ])
    #expect(run.status == 0)
    #expect(!run.errors.contains("hush-hush"))
    let request = try #require(server.requests.first)
    let field = try #require(request.value(of: "Authorization"))
    #expect(field.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/"))
    #expect(
      field.contains(
        "/eu-west-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="))
    #expect(request.value(of: "X-Amz-Date") != nil)
    let bad = try await CommandRun.run([
      "get", "--aws-sigv4", "aws:amz", "-u", "AKID:hush-hush", "http://localhost:1/",
    ])
    #expect(bad.status == 93)
    #expect(!bad.errors.contains("hush-hush"))
    await server.stop()
  }

  @Test func `each request of a batch is signed, and proved by digest`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let lines = Data("\(server.url("/a"))\n\(server.url("/b"))\n".utf8)
    let run = try await CommandRun.run(
      ["batch", "--aws-sigv4", "aws:amz:eu-west-1:s3", "-u", "AKID:hush-hush"], input: lines)
    #expect(run.status == 0)
    let fields = server.requests.compactMap { $0.value(of: "Authorization") }
    #expect(fields.count == 2 && Set(fields).count == 2)
    #expect(fields.allSatisfy { $0.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/") })
    await server.stop()
    let other = try digestServer()
    let url = other.url("/a").replacingOccurrences(of: "http://", with: "http://user:hush-hush@")
    let proved = try await CommandRun.run(["batch", "--digest"], input: Data(url.utf8))
    #expect(proved.status == 0)
    await other.stop()
  }

  @Test(arguments: [
    ["-u", "me:hush-hush"], ["--digest", "-u", "me:hush-hush"], ["--bearer", "hush-hush"],
    ["--aws-sigv4", "aws:amz:r:s", "-u", "AKID:hush-hush"], ["-H", "Authorization: hush-hush"],
  ])
  func `secrets are in no exported command and no trace`(_ arguments: [String]) async throws {
    let server = try ScriptedServer(script: .response(status: 401, fields: [Self.challenge], body: "out"))
    let exported = try await CommandRun.run(["get", "--curl"] + arguments + [server.url("/")])
    #expect(exported.status == 0)
    #expect(exported.output.hasPrefix("curl "))
    #expect(!exported.output.contains("hush-hush"))
    #expect(server.requests.isEmpty)
    let traced = try await CommandRun.run(["get", "-v"] + arguments + [server.url("/")])
    #expect(!(traced.output + traced.errors).contains("hush-hush"))
    #expect(!traced.errors.contains("aHVzaC1odXNo"))
    await server.stop()
  }

  @Test(arguments: [
    ["--aws-sigv4", "aws:amz:r:s"], ["--aws-sigv4", ":x", "-u", "a:b"],
    ["--aws-sigv4", "a:b:c:d:e", "-u", "a:b"],
    ["--digest", "--bearer", "t"], ["--netrc-file"], ["--aws-sigv4", "aws", "--digest", "-u", "a:b"],
  ])
  func `what doesn't go together is a usage error`(_ arguments: [String]) throws {
    #expect(throws: UsageError.self) { try CommandLineParser.parse(["get", "http://h/"] + arguments) }
  }
}
