import Foundation
import PenstockTesting
import Synchronization
import Testing

/// Sentences of the contract of the command that other suites don't meet.
@Suite struct ContractCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func download(_ arguments: [String]) async throws -> CommandRun {
    try await CommandRun.run(["download", "--progress", "json", "--retry", "0"] + arguments)
  }

  @Test func `a range that can't be had, nor the whole, is 33`() async throws {
    let fields = [("ETag", "\"v\""), ("Accept-Ranges", "bytes"), ("Content-Length", "10000")]
    let asked = Atomic<Int>(0)
    let server = try ScriptedServer(respond: { _ in
      if asked.wrappingAdd(1, ordering: .relaxed).oldValue == 0 {
        return [.head(fields: fields), .send(String(repeating: "x", count: 4000)), .close]
      }
      return [.response(status: 416, fields: [("Content-Range", "bytes */3")])]
    })
    let url = server.url("/f")
    #expect(try await download(["--dir", folder.path, url]).status == 18)
    #expect(folder.names == ["f.part", "f.part.json"])
    let run = try await download(["--dir", folder.path, url])
    #expect(run.status == 33)
    #expect(run.lines.last?["kind"] as? String == "range")
    #expect(server.requests.map { $0.value(of: "Range") } == [nil, "bytes=4000-", nil])
    await server.stop()
  }

  @Test func `a folder that isn't there is made`() async throws {
    let server = try ScriptedServer(script: .response(body: "hello"))
    let run = try await download(["-i", "--dir", folder.path + "/new", server.url("/f")])
    #expect(run.status == 0 && folder.bytes("new/f") == Array("hello".utf8))
    #expect(run.errors.hasPrefix("HTTP/1.1 200 OK\n"))
    await server.stop()
  }

  @Test func `segments that were asked for are had of a small file, too`() async throws {
    let text = String(repeating: "0123456789", count: 60_000)
    try folder.put("f", text)
    let server = try ChunkServer(root: folder.path)
    let run = try await download(["-o", folder.path + "/g", "--segments", "3", server.url("/file/f")])
    #expect(run.status == 0)
    #expect(run.lines.first?["segments"] as? Int == 3)
    #expect(folder.bytes("g") == Array(text.utf8))
    await server.stop()
  }

  @Test func `the head is told before a coding that nobody knows`() async throws {
    let server = try ScriptedServer(
      script: .response(fields: [("Content-Encoding", "zzz")], body: "hello"))
    let run = try await CommandRun.run(["events", server.url("/")])
    #expect(run.status == 61 && run.events == ["head", "failed"])
    #expect(run.lines.last?["phase"] as? String == "decode")
    #expect(try await CommandRun.run(["get", server.url("/")]).status == 61)
    await server.stop()
  }

  @Test func `a line of the head that is too long is called so`() async throws {
    let server = try ScriptedServer(
      script: .response(fields: [("X", String(repeating: "a", count: 101 << 10))], body: "hello"))
    let run = try await CommandRun.run(["events", server.url("/")])
    #expect(run.status == 63 && run.lines.last?["kind"] as? String == "header_limit")
    #expect((run.lines.last?["message"] as? String)?.contains("100 KiB") == true)
    await server.stop()
  }
}
