import Foundation
import PenstockTesting
import Testing

@Suite struct EventsCommandTests {
  @Test func `every event is a line, in order`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest,
      .send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
      .send("HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nTransfer-Encoding: chunked\r\n\r\n"),
      .send("5\r\nhello\r\n0\r\nX-T: v\r\n\r\n"),
    ])
    let run = try await CommandRun.run(["events", "--body", "text", server.url("/x?y=1#frag")])
    #expect(run.status == 0)
    let lines = run.lines.filter { $0["event"] as? String != "progress" }
    #expect(
      lines.map { $0["event"] as? String } == ["informational", "head", "body", "trailers", "completed"])
    #expect(run.events.dropLast(2).last == "progress")
    #expect(lines[0]["status"] as? Int == 103)
    #expect(lines[1]["reason"] as? String == "Fine")
    #expect(lines[1]["version"] as? String == "1.1")
    #expect(lines[1]["url"] as? String == server.url("/x?y=1#frag"))
    let headers = try #require(lines[1]["headers"] as? [[String]])
    #expect(headers.prefix(2) == [["Set-Cookie", "a=1"], ["set-cookie", "b=2"]])
    #expect(lines[2]["text"] as? String == "hello")
    #expect(lines[3]["headers"] as? [[String]] == [["X-T", "v"]])
    #expect(lines[4]["received"] as? Int == 5)
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    #expect(lines[4]["sha256"] as? String == hello)
    // Numbers, also of steps that were not made.
    let timings = try #require(lines[4]["timings"] as? [String: Double])
    #expect(timings.keys.sorted() == ["connect", "dns", "first_byte", "queued", "tls", "total"])
    #expect(timings["tls"] == 0)
    await server.stop()
  }

  @Test func `a failure is the last line and says the exit status`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
    ])
    let run = try await CommandRun.run(["events", server.url("/")])
    let last = try #require(run.lines.last)
    #expect(run.status == 18)
    #expect(last["event"] as? String == "failed")
    #expect(last["code"] as? Int == 18)
    #expect(last["kind"] as? String == "truncated")
    #expect(last["phase"] as? String == "body")
    #expect(last["received"] as? Int == 5)
    #expect(last["status"] as? Int == 200)
    await server.stop()
  }

  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
  func `a signal ends with a line and its status`(_ signal: Int32, _ status: Int32) async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .stall,
    ])
    let running = try CommandRun.start(["events", server.url("/")])
    // The body's line is out before the signal comes.
    var seen = Data()
    while !String(decoding: seen, as: UTF8.self).contains("\"body\"") {
      let more = running.output.fileHandleForReading.availableData
      if more.isEmpty { break }
      seen += more
    }
    kill(running.process.processIdentifier, signal)
    let run = try await running.finish()
    #expect(run.status == status)
    let last = try #require(run.lines.last)
    #expect(last["event"] as? String == "failed")
    #expect(last["kind"] as? String == "cancelled")
    #expect(last["code"] as? Int == Int(status))
    #expect(last["status"] as? Int == 200)
    #expect(last["received"] as? Int == 5)
    await server.stop()
  }

  @Test func `redirects and uploads are events`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/a"
        ? [.response(status: 303, fields: [("Location", "/b")])] : [.response(body: "done")]
    }
    let run = try await CommandRun.run(["events", "-d", "x=1", server.url("/a")])
    #expect(run.events.first == "upload")
    let redirect = try #require(run.lines.first { $0["event"] as? String == "redirect" })
    #expect(redirect["status"] as? Int == 303)
    #expect(redirect["to"] as? String == server.url("/b"))
    #expect(redirect["method"] as? String == "GET")
    #expect(server.requests.last?.body.isEmpty == true)
    #expect(server.requests.last?.value(of: "Content-Type") == nil)
    await server.stop()
  }

  @Test(arguments: [["-T", "/nope"], ["-d", "@/nope"], ["-F", "f=@/nope"], ["--netrc-file", "/nope"]])
  func `a file that can't be read is an event, too`(_ arguments: [String]) async throws {
    let run = try await CommandRun.run(["events"] + arguments + ["http://h/"])
    #expect(run.status == 26 && run.errors.contains("/nope"))
    let line = try #require(run.lines.last)
    #expect(run.events == ["failed"] && line["code"] as? Int == 26 && line["phase"] as? String == "file")
    let urls = ["http://u:p@h/", "http://i/"]
    let files = try await CommandRun.run(["download", "--progress", "json"] + arguments + urls)
    #expect(files.status == 26 && files.events == ["failed", "failed"])
    #expect(files.lines.compactMap { $0["url"] as? String } == ["http://…@h/", "http://i/"])
  }

  @Test func `a signal while input is awaited ends with a line`() async throws {
    let running = try CommandRun.start(["events", "-d", "@-", "http://127.0.0.1:1/"], open: ["some"])
    // The command has begun to read when it has taken the line.
    while running.process.isRunning, try waiting(in: running.input) > 0 { await Task.yield() }
    kill(running.process.processIdentifier, SIGINT)
    let run = try await running.finish()
    #expect(run.status == 130)
    #expect(run.lines.last?["kind"] as? String == "cancelled" && run.lines.last?["code"] as? Int == 130)
  }

  private func waiting(in pipe: Pipe) throws -> Int32 {
    var count: Int32 = 0
    try #require(ioctl(pipe.fileHandleForWriting.fileDescriptor, UInt(FIONREAD), &count) == 0)
    return count
  }

  @Test func `a malformed URL fails with 3 as an event`() async throws {
    let run = try await CommandRun.run(["events", "http://exa mple/"])
    #expect(run.status == 3)
    #expect(run.events == ["failed"])
  }
}
