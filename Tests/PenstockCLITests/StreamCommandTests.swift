import Foundation
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct StreamCommandTests {
  private static let events = [("Content-Type", "text/event-stream")]

  private func run(_ arguments: [String], _ script: Script) async throws -> (CommandRun, ScriptedServer) {
    let server = try ScriptedServer(script: script)
    let run = try await CommandRun.run(arguments + [server.url("/x")])
    await server.stop()
    return (run, server)
  }

  @Test func `lines are printed one a line, whatever ended them`() async throws {
    let (run, _) = try await run(["lines"], .chunked(["a\r\nb", "b\n\nlast"]))
    #expect(run.status == 0)
    #expect(run.output == "a\nbb\n\nlast\n")
  }

  @Test func `NDJSON is checked and printed compactly`() async throws {
    let (run, _) = try await run(
      ["lines", "--ndjson"], .response(body: "{ \"a\" : 1.50 }\r\n\n[ \"x\u{2028}y\" ]\n"))
    #expect(run.status == 0)
    #expect(run.output == "{\"a\":1.50}\n[\"x\u{2028}y\"]\n")
  }

  @Test func `a bad record ends with 8 and its line number behind the good ones`() async throws {
    let (run, _) = try await run(["lines", "--ndjson"], .response(body: "1\n\n{\"a\":}\n2\n"))
    #expect(run.status == 8)
    #expect(run.output == "1\n")
    #expect(run.errors.contains("line 3 "))
    #expect(run.errors.contains("/x"))
  }

  @Test func `a line over the limit ends with 63`() async throws {
    let (run, _) = try await run(["lines", "--max-line", "4"], .response(body: "1234\n12345\n"))
    #expect(run.status == 63)
    #expect(run.output == "1234\n")
    let (body, _) = try await self.run(["lines", "--max-body", "4"], .response(body: "1234\n"))
    #expect(body.status == 63)
  }

  @Test func `lines of a refused status and of a cut body have curl's numbers`() async throws {
    #expect(try await run(["lines", "-f"], .response(status: 404, body: "no\n")).0.status == 22)
    let (cut, _) = try await run(
      ["lines"], [.expectRequest, .head(fields: [("Content-Length", "99")]), .send("a\nb")])
    #expect(cut.status == 18)
    #expect(cut.output == "a\n")
  }

  @Test func `events are printed as JSON lines`() async throws {
    let (run, _) = try await run(
      ["sse", "--no-reconnect"],
      .response(
        fields: Self.events,
        body: "data: a\ndata: b\n\nevent: x\nid: 7\nretry: 250\ndata: {\"c\":1}\n\ndata: d\n\ndata: lost\n"))
    #expect(run.status == 0)
    #expect(
      run.output == """
        {"event":"sse","type":"message","data":"a\\nb","id":"","retry":null}
        {"event":"sse","type":"x","data":"{\\"c\\":1}","id":"7","retry":250}
        {"event":"sse","type":"message","data":"d","id":"7","retry":null}

        """)
    #expect(run.errors.isEmpty)
  }

  @Test func `it reconnects with the last ID until 204`() async throws {
    let server = try ScriptedServer(scripts: [
      [.expectRequest, .head(fields: Self.events), .send("retry: 1\nid: 5\ndata: a\n\n")],
      .response(status: 204),
    ])
    let run = try await CommandRun.run(["sse", server.url("/")])
    #expect(run.status == 0)
    #expect(run.lines.count == 1)
    #expect(server.requests.map { $0.value(of: "Last-Event-ID") } == [nil, "5"])
    await server.stop()
  }

  @Test func `another status ends with 22, another type with 8, no server with 7`() async throws {
    #expect(try await run(["sse"], .response(status: 500, body: "no")).0.status == 22)
    #expect(try await run(["sse"], .response(status: 204)).0.status == 0)
    #expect(
      try await run(["sse"], .response(fields: [("Content-Type", "text/plain")], body: "data: a\n\n")).0
        .status == 8)
    #expect(try await run(["sse"], .response(body: "data: a\n\n")).0.status == 8)
    #expect(try await CommandRun.run(["sse", "http://127.0.0.1:1/"]).status == 7)
  }

  @Test func `limits of sse hold`() async throws {
    let script = Script.response(fields: Self.events, body: "data: 12345\n\n")
    #expect(try await run(["sse", "--max-line", "4"], script).0.status == 63)
    #expect(try await run(["sse", "--max-body", "5"], script).0.status == 63)
    #expect(
      try await run(["sse", "-m", "0.5"], .response(fields: Self.events, body: "retry: 60000\ndata: a\n\n")).0
        .status == 28)
  }
}
