import Foundation
import PenstockTesting
import Testing

@testable import PenstockCLI

@Suite struct HTTPOptionsTests {
  private func echo() throws -> ScriptedServer {
    try ScriptedServer { request in
      request.target == "/set"
        ? [.response(status: 302, fields: [("Location", "/"), ("Set-Cookie", "s=2; Path=/")])]
        : [.response(body: request.values(of: "Cookie").joined(separator: "|") + "\n")]
    }
  }

  @Test func `a form of values and files`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let file = try TemporaryFile(Array("content".utf8))
    let run = try await CommandRun.run([
      "get", "-F", "a=b c", "-F", "f=@\(file.path);type=x/y;filename=n.txt", "--form", "g=<\(file.path)",
      server.url,
    ])
    #expect(run.status == 0, "\(run.errors)")
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.value(of: "Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
    #expect(request.value(of: "Content-Length") == "\(request.body.count)")
    for part in [
      "name=\"a\"\r\n\r\nb c\r\n", "name=\"f\"; filename=\"n.txt\"\r\nContent-Type: x/y\r\n\r\ncontent\r\n",
      "name=\"g\"\r\n\r\ncontent\r\n",
    ] {
      #expect(request.text.contains(part), "\(part)")
    }
    await server.stop()
  }

  @Test func `standard input as a part of a form`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let run = try await CommandRun.run(
      ["get", "-F", "f=@-;filename=x", server.url], input: Data("hello".utf8))
    #expect(run.status == 0)
    let request = try #require(server.requests.first)
    #expect(request.value(of: "Transfer-Encoding") == "chunked")
    #expect(
      request.text.contains("filename=\"x\"\r\nContent-Type: application/octet-stream\r\n\r\nhello\r\n"))
    await server.stop()
  }

  @Test(arguments: [
    ["-F", "nonsense"], ["-F", "a=b", "-d", "c"], ["-F", "a=b", "-T", "/etc/hostname"], ["-F", "a=b", "-I"],
    ["--limit-rate", "fast"], ["-F", "a=@-", "-d", "@-"],
  ])
  func `contradictions are usage errors`(_ options: [String]) async throws {
    let run = try await CommandRun.run(["get"] + options + ["http://127.0.0.1:1/"])
    #expect(run.status == 2)
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test(arguments: [["-F", "a=@/nonexistent/x"], ["-F", "a=</nonexistent/x"], ["-b", "/nonexistent/jar"]])
  func `files that can't be read are exit 26 before any request`(_ options: [String]) async throws {
    let server = try echo()
    let run = try await CommandRun.run(["get"] + options + [server.url])
    #expect(run.status == 26)
    #expect(server.connectionCount == 0)
    await server.stop()
  }

  @Test func `cookies are kept with a jar alone, and at every hop`() async throws {
    let server = try echo()
    let plain = try await CommandRun.run(["get", server.url("/set")])
    #expect(plain.output == "\n")
    let folder = try TemporaryFolder()
    let jar = folder.path + "/jar"
    let kept = try await CommandRun.run(["get", "-c", jar, server.url("/set")])
    #expect(kept.status == 0)
    #expect(kept.output == "s=2\n")
    let text = try String(contentsOfFile: jar, encoding: .utf8)
    #expect(text.hasPrefix("# Netscape HTTP Cookie File\n"))
    #expect(text.contains("127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t2\n"))
    let read = try await CommandRun.run(["get", "-b", jar, server.url("/")])
    #expect(read.output == "s=2\n")
    let empty = try await CommandRun.run(["get", "-b", "", server.url("/set")])
    #expect(empty.output == "s=2\n")
    let own = try await CommandRun.run(["get", "-b", "a=1", "--cookie", "b=2", server.url("/")])
    #expect(own.output == "a=1; b=2\n")
    let shown = try await CommandRun.run(["get", "-s", "-c", "-", server.url("/set")])
    #expect(shown.output.contains("\ts\t2\n"))
    await server.stop()
  }

  @Test func `a jar that can't be written is exit 23`() async throws {
    let server = try echo()
    let run = try await CommandRun.run(["get", "-c", "/nonexistent/jar", server.url("/")])
    #expect(run.status == 23)
    await server.stop()
  }

  @Test func `secrets cross origins with location-trusted alone`() async throws {
    let other = try ScriptedServer(script: .response(body: "there"))
    let first = try ScriptedServer(script: .response(status: 302, fields: [("Location", other.url("/"))]))
    let options = ["-H", "Authorization: x", "-b", "a=1"]
    _ = try await CommandRun.run(["get"] + options + [first.url])
    #expect(other.requests.last?.value(of: "Authorization") == nil)
    #expect(other.requests.last?.value(of: "Cookie") == nil)
    _ = try await CommandRun.run(["get", "--location-trusted"] + options + [first.url])
    #expect(other.requests.last?.value(of: "Authorization") == "x")
    #expect(other.requests.last?.value(of: "Cookie") == "a=1")
    await first.stop()
    await other.stop()
  }

  @Test func `max-redirs`() async throws {
    let server = try ScriptedServer(
      script: .response(status: 302, fields: [("Location", "/")], body: "moved"))
    let none = try await CommandRun.run(["get", "--max-redirs", "0", server.url])
    #expect(none.status == 0 && none.output == "moved")
    let few = try await CommandRun.run(["get", "--max-redirs", "2", server.url])
    #expect(few.status == 47)
    #expect(few.errors.contains("more than 2 redirects"))
    await server.stop()
  }

  @Test func `limit-rate holds back`() async throws {
    let server = try ScriptedServer(script: .response(body: String(repeating: "x", count: 24 << 10)))
    let begin = ContinuousClock.now
    let run = try await CommandRun.run(["get", "--limit-rate", "32k", server.url])
    #expect(run.output.utf8.count == 24 << 10)
    #expect(ContinuousClock.now - begin > .milliseconds(400))
    await server.stop()
  }

  @Test func `a length above max-body fails at the head`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "100")]), .stall,
    ])
    for verb in ["get", "events"] {
      let run = try await CommandRun.run([verb, "--max-body", "99", server.url])
      #expect(run.status == 63)
      #expect(!run.events.contains("body"))
    }
    await server.stop()
  }

  @Test func `curl prints the command and sends nothing`() async throws {
    let server = try echo()
    let run = try await CommandRun.run([
      "get", "--curl", "-H", "X-A: it's", "-d", "@/nonexistent", server.url("/"),
    ])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("curl ") && run.output.hasSuffix(" \(server.url("/"))\n"))
    #expect(run.output.contains("-H 'X-A: it'\\''s'"))
    #expect(server.connectionCount == 0)
    await server.stop()
  }
}
