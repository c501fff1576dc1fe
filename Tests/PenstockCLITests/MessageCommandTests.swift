import Foundation
import PenstockTesting
import Testing

/// What people read on their terminals, whatever peers and arguments hold.
@Suite struct MessageCommandTests {
  private static let escape = "\u{1B}[31m"

  @Test(arguments: [["get", "-f"], ["lines", "-f"], ["download", "--retry", "0", "--dir", "/tmp"]])
  func `a server's words can't act on the terminal`(_ arguments: [String]) async throws {
    let head = "HTTP/1.1 404 \(Self.escape)\u{7}\r\nContent-Length: 0\r\n\r\n"
    let server = try ScriptedServer(script: [.expectRequest, .send(head)])
    let run = try await CommandRun.run(arguments + [server.url("/")])
    #expect(run.status == 22)
    #expect(run.errors.contains("the server answered 404 "))
    #expect(!run.errors.contains("\u{1B}") && !run.errors.contains("\u{7}"))
    await server.stop()
  }

  @Test func `nor can header values in a trace`() async throws {
    let head = "HTTP/1.1 200 OK\r\nX-Odd: \(Self.escape)\r\nContent-Length: 0\r\n\r\n"
    let server = try ScriptedServer(script: [.expectRequest, .send(head)])
    let run = try await CommandRun.run(["get", "-v", server.url("/")])
    #expect(run.errors.contains("< X-Odd: \\u{1b}[31m\n"))
    await server.stop()
  }

  @Test(arguments: [["get", "-x", "\nx", "http://h/"], ["get", "-X", "A\nB", "http://h/"], ["\n\u{1B}"]])
  func `a bad value with a line end makes one line`(_ arguments: [String]) async throws {
    let run = try await CommandRun.run(arguments)
    #expect(run.status == 2)
    #expect(run.errors.count { $0 == "\n" } == 1 && !run.errors.contains("\u{1B}"))
  }

  @Test func `a mirror that is no URL is refused at once`() async throws {
    let run = try await CommandRun.run(["download", "--mirror", "no url", "http://127.0.0.1:1/"])
    #expect(run.status == 2)
    #expect(run.errors.hasPrefix("penstock: --mirror: 'no url'"))
  }

  @Test func `results name their URLs without user and password, the query as it was`() async throws {
    let server = try ScriptedServer(respond: { _ in [.response(body: "hello")] })
    let url = server.url("/f?key=1").replacingOccurrences(of: "http://", with: "http://user:hush@")
    let shown = server.url("/f?key=1").replacingOccurrences(of: "http://", with: "http://…@")
    let batch = try await CommandRun.run(["batch"], input: Data(url.utf8))
    #expect(batch.lines.first?["url"] as? String == shown)
    let folder = try TemporaryFolder()
    let download = try await CommandRun.run(
      ["download", "--progress", "json", "--dir", folder.path, url])
    #expect(download.lines.first?["url"] as? String == shown)
    await server.stop()
  }

  @Test func `the last count of an upload of unknown length is told`() async throws {
    let server = try ScriptedServer(script: .response(body: "done"))
    let run = try await CommandRun.run(
      ["events", "-T", "-", server.url("/")], input: Data(repeating: 0x61, count: 300_000))
    let uploads = run.lines.filter { $0["event"] as? String == "upload" }
    #expect(uploads.last?["sent"] as? Int == 300_000)
    #expect(run.events.last { $0 == "upload" || $0 == "head" } == "head")
    await server.stop()
  }

  @Test func `a netrc file may be a pipe`() async throws {
    let server = try ScriptedServer(respond: { _ in [.response(body: "hello")] })
    let command = "'\(CommandRun.executable.path)' get --netrc-file <(echo default login a password b) "
    let run = try await CommandProcess("bash -c \"\(command) \(server.url("/"))\"")
    #expect(run.output == "hello")
    #expect(server.requests.first?.value(of: "Authorization") == "Basic YTpi")
    await server.stop()
  }

  @Test func `a socket that isn't there is named`() async throws {
    let run = try await CommandRun.run(["get", "--unix-socket", "/nonexistent/socket", "http://h/"])
    #expect(run.status == 7)
    #expect(run.errors.contains("(through the socket \"/nonexistent/socket\")"))
    #expect(run.errors.contains("Check the socket's path"))
  }

  @Test func `a large file of data is sent as it is, by each URL`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
    let file = try TemporaryFile(bytes)
    let run = try await CommandRun.run(
      ["get", "--data-binary", "@" + file.path, server.url("/a"), server.url("/b")])
    #expect(run.output == "okok")
    for request in server.requests {
      #expect(request.method == "POST" && request.value(of: "Content-Length") == "3145728")
      #expect(request.value(of: "Content-Type") == "application/x-www-form-urlencoded")
      #expect(request.body == bytes)
    }
    await server.stop()
  }

  @Test func `a file of no length that has content is sent all the same`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    for option in [["-T", "/proc/self/cmdline"], ["-F", "f=@/proc/self/cmdline"]] {
      let run = try await CommandRun.run(["get"] + option + [server.url("/")])
      #expect(run.output == "ok")
      #expect(server.requests.last?.text.contains("/proc/self/cmdline") == true)
    }
    let file = try TemporaryFile([])
    #expect(try await CommandRun.run(["get", "-T", file.path, server.url("/e")]).output == "ok")
    #expect(server.requests.last?.value(of: "Content-Length") == "0")
    await server.stop()
  }

  @Test func `an error names the URL that answered`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/from"
        ? [.response(status: 303, fields: [("Location", "/to")])]
        : [.response(status: request.target == "/to" ? 200 : 404, body: "{x\n")]
    }
    let place = "penstock: GET \(server.url("/to")): "
    for arguments in [["lines", "--ndjson"], ["get", "--max-body", "1"], ["lines", "--max-line", "1"]] {
      let run = try await CommandRun.run(arguments + ["-d", "x", server.url("/from")])
      #expect(run.status != 0 && run.errors.hasPrefix(place))
    }
    await server.stop()
  }

  @Test func `a head is printed as the bytes that came`() async throws {
    let head = Array("HTTP/1.1 200 OK\r\nX-A: ".utf8) + [0xE9, 0xFF] + Array("\r\nx-a: b\r\n".utf8)
    let server = try ScriptedServer(script: [
      .expectRequest, .sendBytes(head + Array("Content-Length: 0\r\n\r\n".utf8)),
    ])
    let file = try TemporaryFile([])
    _ = try await CommandRun.run(["get", "-i", "-o", file.path, server.url("/")])
    let printed = try Data(contentsOf: URL(fileURLWithPath: file.path))
    #expect(Array(printed) == head + Array("Content-Length: 0\r\n\r\n".utf8))
    await server.stop()
  }
}
