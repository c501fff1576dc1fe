import Foundation
import PenstockTesting
import Testing

@Suite struct GetCommandTests {
  private func server(_ steps: [Step]) throws -> ScriptedServer {
    try ScriptedServer(script: [.respondEach(steps)])
  }

  @Test func `the body goes to standard output`() async throws {
    let server = try server([.response(body: "hello\n")])
    let run = try await CommandRun.run(["get", server.url("/a"), server.url("/b")])
    #expect(run.status == 0)
    #expect(run.output == "hello\nhello\n")
    #expect(run.errors.isEmpty)
    await server.stop()
  }

  @Test func `a cut body is printed as far as it came and ends with 18`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
    ])
    let run = try await CommandRun.run(["get", server.url("/")])
    #expect(run.status == 18)
    #expect(run.output == "hello")
    #expect(run.errors.contains("5 of 10"))
    await server.stop()
  }

  @Test func `fail refuses a status without printing its body`() async throws {
    let server = try server([.response(status: 404, body: "no such thing")])
    let refused = try await CommandRun.run(["get", "-f", server.url("/")])
    #expect(refused.status == 22)
    #expect(refused.output.isEmpty)
    let printed = try await CommandRun.run(["get", server.url("/")])
    #expect(printed.status == 0)
    #expect(printed.output == "no such thing")
    await server.stop()
  }

  @Test func `data is posted as a form`() async throws {
    let server = try server([.response(body: "ok")])
    let run = try await CommandRun.run(["get", "-d", "a=1", "-d", "b=2", "-H", "X-A: v", server.url("/")])
    #expect(run.status == 0)
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.text == "a=1&b=2")
    #expect(request.value(of: "Content-Type") == "application/x-www-form-urlencoded")
    #expect(request.value(of: "X-A") == "v")
    #expect(request.value(of: "Content-Length") == "7")
    await server.stop()
  }

  @Test func `standard input is uploaded in chunks`() async throws {
    let server = try server([.response(body: "ok")])
    let run = try await CommandRun.run(
      ["get", "-T", "-", server.url("/up")], input: Data(repeating: 65, count: 300_000))
    #expect(run.status == 0)
    let request = try #require(server.requests.first)
    #expect(request.method == "PUT")
    #expect(request.body.count == 300_000)
    #expect(request.value(of: "Transfer-Encoding") == "chunked")
    await server.stop()
  }

  @Test func `user info becomes a credential and leaves the URL`() async throws {
    let server = try server([.response(body: "ok")])
    let url = server.url("/x").replacingOccurrences(of: "http://", with: "http://me:secret@")
    let run = try await CommandRun.run(["get", "-v", url])
    #expect(run.status == 0)
    #expect(server.requests.first?.value(of: "Authorization") == "Basic bWU6c2VjcmV0")
    #expect(!run.errors.contains("secret") && !run.errors.contains("bWU6c2VjcmV0"))
    await server.stop()
  }

  @Test func `a redirect is followed and drops secrets on the way to another origin`() async throws {
    let target = try server([.response(body: "there")])
    let first = try server([
      .response(status: 302, fields: [("Location", target.url("/t"))])
    ])
    let run = try await CommandRun.run([
      "get", "--bearer", "token", server(first), "-H", "X-A: 1", "-H", "X-Api-Key: key",
    ])
    #expect(run.output == "there")
    #expect(first.requests.first?.value(of: "X-Api-Key") == "key")
    #expect(target.requests.first?.value(of: "X-Api-Key") == nil)
    #expect(first.requests.first?.value(of: "Authorization") == "Bearer token")
    #expect(target.requests.first?.value(of: "Authorization") == nil)
    #expect(target.requests.first?.value(of: "X-A") == "1")
    let stopped = try await CommandRun.run(["get", "--max-redirs", "0", "-i", server(first)])
    #expect(stopped.output.hasPrefix("HTTP/1.1 302 Found\r\n"))
    await first.stop()
    await target.stop()
  }

  private func server(_ server: ScriptedServer) -> String { server.url("/f") }

  @Test func `a body over the limit ends with 63`() async throws {
    let server = try server([.chunked([String(repeating: "x", count: 5000)])])
    let run = try await CommandRun.run(["get", "--max-body", "4k", server.url("/")])
    #expect(run.status == 63)
    await server.stop()
  }

  @Test func `bad command lines end with 2 and one line`() async throws {
    for arguments in [
      ["get"], ["gett", "http://h/"], ["get", "--nope", "http://h/"], ["get", "-m", "x", "u"],
    ] {
      let run = try await CommandRun.run(arguments)
      #expect(run.status == 2, "\(arguments)")
      #expect(run.errors.hasPrefix("penstock: ") && run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test func `failures have curl's numbers`() async throws {
    #expect(try await CommandRun.run(["get", "http://"]).status == 3)
    #expect(try await CommandRun.run(["get", "-s", "http://127.0.0.1:1/"]).status == 7)
    #expect(try await CommandRun.run(["get", "-T", "/no/such/file", "http://127.0.0.1:1/"]).status == 26)
    let silent = try ScriptedServer(script: [.stall])
    let run = try await CommandRun.run(["get", "--first-byte-timeout", "0.2", silent.url("/")])
    #expect(run.status == 28)
    await silent.stop()
  }

  @Test func `a reader that leaves ends the run quietly`() async throws {
    let server = try ChunkServer()
    let run = try CommandRun.start(["get", server.url("/bytes/1g")])
    _ = run.output.fileHandleForReading.readData(ofLength: 1000)
    try run.output.fileHandleForReading.close()
    run.process.waitUntilExit()
    #expect(run.process.terminationStatus == 23)
    #expect(run.errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
    await server.stop()
  }
}
