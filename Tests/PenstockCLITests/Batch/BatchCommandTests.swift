import Foundation
import PenstockTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct BatchCommandTests {
  private func server() throws -> ScriptedServer {
    try ScriptedServer(respond: { request in
      switch request.target {
      case "/404": [.response(status: 404, body: "none")]
      case "/stall": [.stall]
      case "/big": [.response(body: String(repeating: "x", count: 5000))]
      case "/moved": [.response(status: 302, fields: [("Location", "/hello")])]
      default: [.response(body: request.method == "POST" ? request.text : "hello")]
      }
    })
  }

  private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  private func run(_ arguments: [String], _ lines: [String]) async throws -> CommandRun {
    try await CommandRun.run(
      ["batch", "--retry", "0"] + arguments, input: Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  private func result(_ run: CommandRun, _ id: Int) throws -> [String: Any] {
    try #require(run.lines.first { $0["id"] as? Int == id })
  }

  @Test func `a result has every field, and the summary is last`() async throws {
    let server = try server()
    let run = try await run([], [server.url("/hello"), "", "# no", server.url("/404"), server.url("/moved")])
    #expect(run.status == 1)
    #expect(run.lines.count == 4)
    let fine = try result(run, 1)
    #expect(
      Set(fine.keys) == [
        "id", "url", "final_url", "ok", "status", "bytes", "sha256", "duration", "attempts", "file",
      ])
    #expect(fine["url"] as? String == server.url("/hello"))
    #expect(fine["ok"] as? Bool == true)
    #expect(fine["status"] as? Int == 200)
    #expect(fine["bytes"] as? Int == 5)
    #expect(fine["sha256"] as? String == Self.hello)
    #expect(fine["attempts"] as? Int == 1)
    let refused = try result(run, 4)
    #expect(refused["ok"] as? Bool == false)
    #expect(refused["status"] as? Int == 404)
    let error = try #require(refused["error"] as? [String: Any])
    #expect(Set(error.keys) == ["code", "kind", "phase", "message"])
    #expect(error["code"] as? Int == 22)
    #expect(error["kind"] as? String == "status")
    #expect(try result(run, 5)["final_url"] as? String == server.url("/hello"))
    let summary = try #require(run.lines.last)
    #expect(
      Set(summary.keys) == ["event", "ok", "failed", "skipped", "bytes", "duration", "rps", "p50", "p99"])
    #expect(summary["event"] as? String == "summary")
    #expect(summary["ok"] as? Int == 2)
    #expect(summary["failed"] as? Int == 1)
    await server.stop()
  }

  @Test func `a malformed line is a failed result, and the run goes on`() async throws {
    let server = try server()
    let run = try await run([], ["no url", "{\"url\":", #"{"id":"x"}"#, server.url("/hello")])
    #expect(run.status == 1)
    func code(_ match: (Any?) -> Bool) -> Int? {
      (run.lines.first { match($0["id"]) }?["error"] as? [String: Any])?["code"] as? Int
    }
    #expect(code { $0 as? Int == 1 } == 3)
    #expect(code { $0 as? Int == 2 } == 93)
    #expect(run.lines.count == 5)
    #expect(try result(run, 4)["ok"] as? Bool == true)
    await server.stop()
  }

  @Test func `the body of a refused status isn't read for ever`() async throws {
    let server = try ScriptedServer(respond: { _ in
      let head = "HTTP/1.1 404 Gone For Good\r\nContent-Length: 9000000000\r\n\r\n"
      return [.send(head + String(repeating: "x", count: 2 << 20)), .stall]
    })
    let run = try await run([], [server.url("/")])
    let refused = try result(run, 1)
    #expect(refused["status"] as? Int == 404 && refused["sha256"] is NSNull)
    #expect((refused["error"] as? [String: Any])?["code"] as? Int == 22)
    await server.stop()
  }

  @Test func `a line that is too long is a failed result, and the run goes on`() async throws {
    let server = try server()
    let long = server.url("/") + String(repeating: "x", count: 17 << 20)
    let run = try await run(["--order", "input"], [server.url("/a"), long, server.url("/b"), "", long])
    #expect(run.status == 1)
    #expect(run.lines.compactMap { $0["id"] as? Int } == [1, 2, 3, 5])
    let error = try #require(try result(run, 2)["error"] as? [String: Any])
    #expect(error["code"] as? Int == 93)
    #expect((error["message"] as? String)?.hasPrefix("line 2 is longer") == true)
    #expect(try result(run, 3)["ok"] as? Bool == true)
    #expect(run.lines.last?["failed"] as? Int == 2)
    await server.stop()
  }

  @Test func `objects say method, fields, content and id`() async throws {
    let server = try server()
    let line =
      #"{"url":"\#(server.url("/p"))","method":"POST","headers":[["X-A","b"]],"body":"sent","id":"me"}"#
    let run = try await run(["--body", "text"], [line])
    #expect(run.status == 0)
    #expect(run.lines.first?["id"] as? String == "me")
    #expect(run.lines.first?["body"] as? String == "sent")
    #expect(server.requests.first?.value(of: "X-A") == "b")
    await server.stop()
  }

  @Test func `results keep the order of the inputs where that is asked for`() async throws {
    let server = try server()
    let run = try await run(["--order", "input"], (0..<60).map { server.url("/\($0)") })
    #expect(run.lines.compactMap { $0["id"] as? Int } == Array(1...60))
    await server.stop()
  }

  @Test func `fail-fast reads no more, and what was read has its result`() async throws {
    let server = try server()
    let run = try await run(
      ["-j", "2", "--fail-fast"], [server.url("/404")] + (0..<200).map { server.url("/\($0)") })
    #expect(run.status == 1)
    let ids = run.lines.compactMap { $0["id"] as? Int }
    #expect(ids.count < 20)
    #expect(Set(ids) == Set(1...ids.count))
    await server.stop()
  }

  @Test func `equal inputs are asked for once, and each has its object`() async throws {
    let server = try server()
    let run = try await run(["--dedupe", "-j", "1"], Array(repeating: server.url("/hello"), count: 5))
    #expect(run.lines.compactMap { $0["id"] as? Int }.sorted() == [1, 2, 3, 4, 5])
    #expect(server.requests.count == 1)
    await server.stop()
  }

  @Test func `a state leaves out what succeeded, and is refused where it can't be used`() async throws {
    let server = try server()
    let folder = try TemporaryFolder()
    let inputs = [server.url("/hello"), server.url("/404"), server.url("/other")]
    let first = try await run(["--state", folder.path + "/s.db"], inputs)
    #expect(first.lines.count == 4)
    let second = try await run(["--state", folder.path + "/s.db"], inputs)
    #expect(second.lines.compactMap { $0["id"] as? Int } == [2])
    #expect(second.lines.last?["skipped"] as? Int == 2)
    #expect(server.requests.count == 4)
    #expect(folder.names == ["s.db"])
    try folder.put("text", String(repeating: "no database", count: 100))
    let broken = try await run(["--state", folder.path + "/text"], inputs)
    #expect(broken.status == 26)
    #expect(broken.output.isEmpty)
    #expect(server.requests.count == 4)
    await server.stop()
  }

  @Test func `a curl command for each input, and nothing is sent`() async throws {
    let server = try server()
    let run = try await run(
      ["--curl", "--bearer", "hush"], [server.url("/a"), "# no", server.url("/b?token=hush")])
    #expect(run.status == 0)
    let commands = run.output.split(separator: "\n")
    #expect(commands.count == 2 && commands.allSatisfy { $0.hasPrefix("curl -L ") && !$0.contains("hush") })
    #expect(commands[0].hasSuffix(" " + server.url("/a")))
    #expect(server.requests.isEmpty)
    let broken = try await self.run(["--curl"], ["{", server.url("/a")])
    #expect(broken.status == 1)
    #expect(broken.lastError.contains("line 1"))
    #expect(broken.output.split(separator: "\n").count == 1)
    await server.stop()
  }

  @Test func `robots txt is heeded where that is asked for`() async throws {
    let server = try ScriptedServer(respond: { request in
      [.response(body: request.target == "/robots.txt" ? "User-agent: Me\nDisallow: /no\n" : "hello")]
    })
    let run = try await run(["--robots", "Me"], [server.url("/no/1"), server.url("/yes")])
    #expect(run.status == 1)
    let refused = try result(run, 1)
    #expect((refused["error"] as? [String: Any])?["kind"] as? String == "robots")
    #expect(refused["attempts"] as? Int == 0)
    #expect(try result(run, 2)["ok"] as? Bool == true)
    #expect(Set(server.requests.map(\.target)) == ["/robots.txt", "/yes"])
    #expect(try await self.run(["--robots", "no such"], []).status == 2)
    await server.stop()
  }

  @Test func `bodies go to files, whole ones alone`() async throws {
    let server = try server()
    let folder = try TemporaryFolder()
    let run = try await run(
      ["--dir", folder.path, "--max-body", "1k"],
      [
        #"{"url":"\#(server.url("/hello"))","file":"sub/a.txt"}"#, server.url("/x"), server.url("/404"),
        server.url("/big"),
      ])
    #expect(run.status == 1)
    #expect(folder.names.count == 2)
    #expect(folder.bytes("sub/a.txt") == Array("hello".utf8))
    #expect(try result(run, 1)["file"] as? String == folder.path + "/sub/a.txt")
    #expect((try result(run, 4)["error"] as? [String: Any])?["code"] as? Int == 63)
    await server.stop()
  }

  @Test func `an input that can't be read is 26 before any request`() async throws {
    let run = try await CommandRun.run(["batch", "/no/such/file"])
    #expect(run.status == 26)
    #expect(run.output.isEmpty)
  }

  @Test func `the first interrupt drains, and input that is still open isn't waited for`() async throws {
    let server = try ScriptedServer(respond: { _ in [.waitForSignal("go"), .response(body: "hello")] })
    let running = try CommandRun.start(
      ["batch", "-j", "2"], input: nil, open: [server.url("/1"), server.url("/2")])
    try await server.waitForRequests(2)
    kill(running.process.processIdentifier, SIGINT)
    // It reads no more: whatever comes after the signal isn't asked for.
    server.open("go")
    let run = try await running.finish()
    #expect(run.status == 130)
    #expect(run.lines.last?["ok"] as? Int == 2)
    await server.stop()
  }

  @Test func `a second interrupt stops at once`() async throws {
    let server = try server()
    let running = try CommandRun.start(["batch"], input: Data((server.url("/stall") + "\n").utf8))
    try await server.waitForRequests(1)
    kill(running.process.processIdentifier, SIGINT)
    kill(running.process.processIdentifier, SIGINT)
    let ended = Task { try await running.finish() }
    // Two signals of one number that come together may be one: the second is sent until it has been heard.
    let isOver = await eventually {
      kill(running.process.processIdentifier, SIGINT)
      return !running.process.isRunning
    }
    #expect(isOver)
    #expect(try await ended.value.status == 130)
    await server.stop()
  }

  @Test func `what the second signal ends has its result, and the summary comes last`() async throws {
    let server = try server()
    let running = try CommandRun.start(["batch"], input: Data((server.url("/stall") + "\n").utf8))
    try await server.waitForRequests(1)
    // Of two different signals none is lost, and the lower number is met first.
    kill(running.process.processIdentifier, SIGINT)
    kill(running.process.processIdentifier, SIGTERM)
    let run = try await running.finish()
    #expect(run.status == 143)
    #expect(run.lines.count == 2)
    #expect((run.lines.first?["error"] as? [String: Any])?["kind"] as? String == "cancelled")
    #expect(run.lines.last?["event"] as? String == "summary")
    await server.stop()
  }

  @Test func `failures are tried again, three times unless told otherwise`() async throws {
    let server = try ScriptedServer(respond: { _ in [.response(status: 503, body: "later")] })
    let run = try await CommandRun.run(
      ["batch", "--retry-max-delay", "0.001", "-"], input: Data((server.url("/") + "\n").utf8))
    #expect(run.status == 1)
    #expect(try result(run, 1)["attempts"] as? Int == 4)
    #expect(try result(run, 1)["status"] as? Int == 503)
    #expect(server.requests.count == 4)
    await server.stop()
  }

  @Test func `progress for programs is lines among the results`() async throws {
    let server = try ScriptedServer(respond: { _ in [.waitForSignal("go"), .response(body: "hello")] })
    let running = try CommandRun.start(
      ["batch", "--progress", "json"], input: Data((server.url("/") + "\n").utf8))
    var seen = Data()
    while !String(decoding: seen, as: UTF8.self).contains("\"progress\"") {
      let more = running.output.fileHandleForReading.availableData
      if more.isEmpty { break }
      seen += more
    }
    server.open("go")
    let run = try await running.finish()
    #expect(run.status == 0)
    #expect(run.lines.last?["event"] as? String == "summary")
    let line = String(decoding: seen, as: UTF8.self)
    #expect(line.contains("\"in_flight\":1"))
    await server.stop()
  }

  @Test func `a report is one page that needs nothing else`() async throws {
    let server = try server()
    let folder = try TemporaryFolder()
    let run = try await run(
      ["--report", folder.path + "/r.html"], (0..<30).map { server.url($0 % 3 == 0 ? "/404" : "/<b>\($0)") })
    #expect(run.status == 1)
    let page = String(decoding: try #require(folder.bytes("r.html")), as: UTF8.self)
    #expect(page.hasPrefix("<!DOCTYPE html>"))
    #expect(page.contains("<svg") && page.contains("status 404") && page.contains("p99"))
    #expect(!page.contains("<b>") && !page.contains("src=") && !page.contains("href="))
    await server.stop()
  }
}
