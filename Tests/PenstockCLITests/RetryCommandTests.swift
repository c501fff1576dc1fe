import Foundation
import Penstock
import PenstockTesting
import Synchronization
import Testing

@testable import PenstockCLI

@Suite struct RetryCommandTests {
  /// Answers so many requests with 503, then with 200.
  private static func server(
    failing times: Int, fields: [(String, String)] = []
  ) throws -> ScriptedServer {
    let count = Mutex(0)
    return try ScriptedServer { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return [
        number <= times ? .response(status: 503, fields: fields, body: "busy") : .response(body: "fine")
      ]
    }
  }

  @Test func `get tries again as often as it is told`() async throws {
    let server = try Self.server(failing: 2)
    let run = try await CommandRun.run(["get", "--retry", "2", "--retry-max-delay", "0", server.url("/")])
    #expect(run.status == 0 && run.output == "fine" && server.requests.count == 3)
    await server.stop()
  }

  @Test func `without --retry it tries once`() async throws {
    let server = try Self.server(failing: 1)
    let run = try await CommandRun.run(["get", "-f", server.url("/")])
    #expect(run.status == 22 && run.output.isEmpty && server.requests.count == 1)
    await server.stop()
  }

  /// Each answer with the connection's end after so many bytes of its body; whole ones after those.
  private static func server(cutting cuts: [Int]) throws -> ScriptedServer {
    let count = Mutex(0)
    return try ScriptedServer { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      guard number <= cuts.count else { return [.response(body: "fine")] }
      let sent = String("fine".prefix(cuts[number - 1]))
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + sent), .close]
    }
  }

  struct Lost: Sendable {
    let arguments: String
    /// How much of the body comes, answer by answer.
    let cuts: [Int]
    let status: Int32
    let output: String
    let requests: Int
  }

  static let lost: [Lost] = [
    Lost(arguments: "get --retry 2", cuts: [0, 0], status: 0, output: "fine", requests: 3),
    Lost(arguments: "lines --retry 2", cuts: [0], status: 0, output: "fine\n", requests: 2),
    Lost(arguments: "get --retry 2 -X PUT -d x", cuts: [0], status: 0, output: "fine", requests: 2),
    Lost(arguments: "get", cuts: [0], status: 18, output: "", requests: 1),
    Lost(arguments: "get --retry 1", cuts: [0, 0], status: 18, output: "", requests: 2),
    // A byte was handed out, or the head; or the request may have done something.
    Lost(arguments: "get --retry 2", cuts: [2], status: 18, output: "fi", requests: 1),
    Lost(arguments: "get --retry 2", cuts: [0, 2], status: 18, output: "fi", requests: 2),
    Lost(
      arguments: "get --retry 2 -i", cuts: [0], status: 18,
      output: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", requests: 1),
    Lost(arguments: "get --retry 2 -d x", cuts: [0], status: 18, output: "", requests: 1),
  ]

  @Test(arguments: lost)
  func `a body that is lost before its first byte is asked for again`(_ lost: Lost) async throws {
    let server = try Self.server(cutting: lost.cuts)
    let arguments = lost.arguments.split(separator: " ").map(String.init)
    let run = try await CommandRun.run(arguments + ["--retry-max-delay", "0.05", server.url("/")])
    #expect(run.status == lost.status && run.output == lost.output)
    #expect(server.requests.count == lost.requests)
    await server.stop()
  }

  @Test func `the last answer stands`() async throws {
    let server = try Self.server(failing: 9)
    let arguments = ["--retry", "1", "--retry-max-delay", "0", server.url("/")]
    let run = try await CommandRun.run(["get"] + arguments)
    #expect(run.status == 0 && run.output == "busy" && server.requests.count == 2)
    let failed = try await CommandRun.run(["get", "-f"] + arguments)
    #expect(failed.status == 22 && failed.output.isEmpty && server.requests.count == 4)
    await server.stop()
  }

  @Test func `events tell of each retry, and of one head`() async throws {
    let server = try Self.server(failing: 2, fields: [("Retry-After", "3600")])
    let run = try await CommandRun.run([
      "events", "--retry", "3", "--retry-max-delay", "0.05", server.url("/"),
    ])
    #expect(run.status == 0)
    #expect(
      run.events.filter { $0 != "progress" } == ["retry", "retry", "head", "body", "completed"])
    let retries = run.lines.filter { $0["event"] as? String == "retry" }
    #expect(retries.map { $0["attempt"] as? Int } == [2, 3])
    #expect(retries.map { $0["delay"] as? Double } == [0.05, 0.05])
    #expect(retries.map { $0["reason"] as? String } == ["status 503", "status 503"])
    await server.stop()
  }

  @Test func `a lost connection is tried again; a body that was begun isn't`() async throws {
    let server = try ScriptedServer(scripts: [
      [.expectRequest, .reset],
      [.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .close],
      [.expectRequest, .response(body: "never")],
    ])
    let run = try await CommandRun.run(["get", "--retry", "5", "--retry-max-delay", "0", server.url("/")])
    #expect(run.status == 18 && run.output == "hello" && server.requests.count == 2)
    await server.stop()
  }

  @Test func `a POST is tried again only when told, with one key`() async throws {
    let server = try Self.server(failing: 1)
    let arguments = ["--retry", "2", "--retry-max-delay", "0", "-d", "x=1", server.url("/")]
    let once = try await CommandRun.run(["get"] + arguments)
    #expect(once.output == "busy" && server.requests.count == 1)
    await server.stop()
    let other = try Self.server(failing: 1)
    let again = try await CommandRun.run(
      ["get", "--retry-all-methods"] + arguments.dropLast() + [other.url("/")])
    #expect(again.output == "fine" && other.requests.count == 2)
    #expect(Set(other.requests.map { $0.value(of: "Idempotency-Key") }).count == 1)
    #expect(other.requests.first?.value(of: "Idempotency-Key") != nil)
    #expect(other.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["x=1", "x=1"])
    await other.stop()
  }

  @Test func `-v traces retries, and the last error lists them`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .reset])
    for verb in ["get", "events"] {
      let run = try await CommandRun.run([
        verb, "-v", "--retry", "1", "--retry-max-delay", "0", server.url("/"),
      ])
      #expect([52, 55, 56].contains(run.status))
      #expect(run.errors.contains("* attempt 1 failed: "))
      #expect(run.errors.contains("* attempt 2 follows in 0 ms"))
      #expect(run.lastError.contains("attempt 2") && run.lastError.contains("Before: "))
    }
    await server.stop()
  }

  @Test(arguments: [
    ["--retry", "-1"], ["--retry", "x"], ["--retry", "1.5"], ["--retry-max-delay", "-1"],
    ["--retry-max-delay", "soon"], ["--retry"],
  ])
  func `bad values are refused`(arguments: [String]) async throws {
    let run = try await CommandRun.run(["get"] + arguments + ["http://127.0.0.1:1/"])
    #expect(run.status == 2 && run.errors.split(separator: "\n").count == 1)
  }

  @Test func `how often each verb tries again`() throws {
    func limit(_ arguments: [String]) throws -> Int {
      guard case .run(let settings) = try CommandLineParser.parse(arguments) else { return -1 }
      return settings.retryPolicy?.limit ?? 0
    }
    #expect(try limit(["get", "http://a/"]) == 0)
    #expect(try limit(["download", "http://a/"]) == 3)
    #expect(try limit(["download", "--retry", "0", "http://a/"]) == 0)
    #expect(try limit(["events", "--retry", "7", "http://a/"]) == 7)
  }
}
