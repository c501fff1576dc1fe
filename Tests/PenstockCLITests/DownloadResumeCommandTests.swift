import Foundation
import Glibc
import PenstockTesting
import TestSupport
import Testing

/// `penstock download` of what an earlier run has left, in ranges, and checked.
@Suite struct DownloadResumeCommandTests {
  private let folder: TemporaryFolder
  private let root: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    root = try TemporaryFolder()
  }

  private func put(_ count: Int) throws -> [UInt8] {
    var state: UInt64 = 42
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withUnsafeMutableBytes { bytes in
      for offset in stride(from: 0, to: count, by: 8) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.storeBytes(of: state, toByteOffset: offset, as: UInt64.self)
      }
    }
    try Data(bytes).write(to: URL(fileURLWithPath: root.path + "/f"))
    return bytes
  }

  private func start(_ arguments: [String]) throws -> CommandRun.Running {
    try CommandRun.start(["download", "--dir", folder.path] + arguments)
  }

  private func run(_ arguments: [String]) async throws -> CommandRun { try await start(arguments).finish() }

  /// How much of a file was written, in pages: blocks say nothing of it, as room is set aside before. -1: there is none.
  private func written(_ name: String) -> Int {
    guard
      let bytes = try? Data(
        contentsOf: URL(fileURLWithPath: folder.path + "/" + name), options: .mappedIfSafe)
    else { return -1 }
    return stride(from: 0, to: bytes.count - 7, by: 4096).count { bytes[$0..<$0 + 8].contains { $0 != 0 } }
      * 4096
  }

  /// Waits until so much of the part is on the disk, or the run has ended: nothing tells of either. However busy the machine
  /// is, a run that is held to a few hundred KiB a second is far from its end then.
  private func wait(_ running: CommandRun.Running, untilPartHolds count: Int) async {
    while !(await eventually { written("f.part") >= count || !running.process.isRunning }) {}
    #expect(running.process.isRunning)
  }

  @Test func an_interrupted_run_leaves_part_and_record_and_the_next_one_continues() async throws {
    let content = try put(32 << 20)
    let server = try ChunkServer(root: root.path)
    let url = server.url("/file/f")
    let first = try start(["--progress", "json", "--limit-rate", "300k", url])
    await wait(first, untilPartHolds: 100_000)
    kill(first.process.processIdentifier, SIGINT)
    let interrupted = try await first.finish()
    #expect(interrupted.status == 130 && folder.names == ["f.part", "f.part.json"])
    let second = try await run(["--progress", "json", url])
    let started = try #require(second.lines.first)
    let resumed = try #require(started["resumed_at"] as? Int)
    #expect(second.status == 0 && resumed >= 50_000 && started["total"] as? Int == 32 << 20)
    #expect(folder.bytes("f") == content && folder.names == ["f"])
    // The digest is that of all bytes, also of those from before.
    let digest = try await CommandProcess("sha256sum < '\(root.path)/f'")
    #expect(digest.output.hasPrefix(try #require(second.lines.last?["sha256"] as? String)))
    await server.stop()
  }

  @Test func no_continue_starts_afresh() async throws {
    let content = try put(16 << 20)
    let server = try ChunkServer(root: root.path)
    let url = server.url("/file/f")
    let first = try start(["--limit-rate", "150k", "--progress", "none", url])
    await wait(first, untilPartHolds: 50_000)
    kill(first.process.processIdentifier, SIGTERM)
    #expect(try await first.finish().status == 143)
    let second = try await run(["--progress", "json", "--no-continue", url])
    #expect(second.lines.first?["resumed_at"] as? Int == 0 && second.events.contains("restarted") == false)
    #expect(folder.bytes("f") == content && folder.names == ["f"])
    await server.stop()
  }

  @Test func a_changed_file_is_begun_anew_and_says_so() async throws {
    _ = try put(16 << 20)
    let server = try ChunkServer(root: root.path)
    let url = server.url("/file/f")
    let first = try start(["--limit-rate", "150k", "--progress", "none", url])
    await wait(first, untilPartHolds: 50_000)
    kill(first.process.processIdentifier, SIGINT)
    _ = try await first.finish()
    let content = try put(512 << 10)
    let second = try await run(["--progress", "json", url])
    let restarted = try #require(second.lines.first { $0["event"] as? String == "restarted" })
    #expect(Set(restarted.keys) == ["event", "reason"] && restarted["reason"] as? String == "changed")
    #expect(second.events.first == "started" && second.status == 0)
    #expect(folder.bytes("f") == content && folder.names == ["f"])
    await server.stop()
  }

  @Test func kills_at_any_instants_of_a_segmented_download_cost_no_byte() async throws {
    let content = try put(6 << 20)
    let server = try ChunkServer(root: root.path)
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<12 where folder.bytes("f") == nil {
      let running = try start([
        "--segments", "3", "--limit-rate", "12M", "--progress", "none", server.url("/file/f"),
      ])
      // Instants are counted in what has come, so that they fall into the download on any machine.
      let instant = max(0, written("f.part")) + Int.random(in: 0..<(1 << 20), using: &generator)
      while !(await eventually {
        written("f.part") >= instant || !running.process.isRunning || written("f") >= 0
      }) {}
      kill(running.process.processIdentifier, SIGKILL)
      _ = try await running.finish()
      if let bytes = folder.bytes("f") {
        #expect(bytes == content)
      } else {
        #expect(folder.names.allSatisfy { $0.hasPrefix("f.part") })
      }
    }
    if folder.bytes("f") == nil {
      let last = try await run(["--segments", "3", server.url("/file/f")])
      #expect(last.status == 0, "\(last.errors)")
    }
    #expect(folder.bytes("f") == content)
    await server.stop()
  }

  @Test func segments_and_mirrors_and_checksums_go_together() async throws {
    let content = try put(5 << 20)
    let (one, two) = (try ChunkServer(root: root.path), try ChunkServer(root: root.path))
    let digest = try await CommandProcess("sha256sum < '\(root.path)/f'").output.prefix(64)
    let good = try await run([
      "--segments", "4", "--mirror", two.url("/file/f"), "--checksum", "SHA-256=\(digest.uppercased())",
      "--progress", "json", one.url("/file/f"),
    ])
    #expect(good.status == 0 && good.lines.first?["segments"] as? Int == 4)
    #expect(folder.bytes("f") == content && two.requestCount > 0)
    let bad = try await run([
      "-o", "g", "--checksum", "md5=" + String(repeating: "0", count: 32), "--progress", "json",
      one.url("/file/f"),
    ])
    #expect(bad.status == 94 && bad.lines.last?["kind"] as? String == "checksum" && folder.names == ["f"])
    await one.stop()
    await two.stop()
  }

  @Test func a_mirror_helps_out() async throws {
    let content = try put(64 << 10)
    let server = try ChunkServer(root: root.path)
    let run = try await run([
      "--progress", "json", "-o", "f", "--mirror", server.url("/file/f"), server.url("/status/404"),
    ])
    #expect(run.status == 0 && folder.bytes("f") == content)
    let retry = try #require(run.lines.first { $0["event"] as? String == "retry" })
    #expect(Set(retry.keys) == ["event", "attempt", "delay", "reason"] && retry["attempt"] as? Int == 2)
    await server.stop()
  }

  @Test func the_remote_time_and_the_size_limit_are_kept() async throws {
    _ = try put(4096)
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let server = try ScriptedServer(script: .response(fields: [("Last-Modified", date)], body: "hello"))
    #expect(try await run(["--remote-time", "-s", "-o", "t", server.url("/t")]).status == 0)
    var facts = stat()
    #expect(stat(folder.path + "/t", &facts) == 0 && facts.st_mtim.tv_sec == 784_111_777)
    let limited = try await run(["--max-body", "4", "-o", "u", server.url("/t")])
    #expect(limited.status == 63 && folder.names == ["t"])
    await server.stop()
  }

  @Test func a_busy_server_is_asked_again_as_often_as_told() async throws {
    let server = try ScriptedServer(
      script: .response(status: 503, fields: [("Retry-After", "0")], body: "busy"))
    let run = try await run(["--progress", "json", "--retry", "2", server.url("/x")])
    #expect(run.status == 22 && server.requests.count == 3)
    #expect(run.events == ["retry", "retry", "failed"])
    let once = try await self.run(["--progress", "json", "--retry", "0", server.url("/x")])
    #expect(once.status == 22 && server.requests.count == 4)
    // What may have been done isn't done again unasked.
    let post = try await self.run(["-s", "--retry", "1", "-d", "x", server.url("/x")])
    #expect(post.status == 22 && server.requests.count == 5)
    let told = try await self.run(["-s", "--retry", "1", "--retry-all-methods", "-d", "x", server.url("/x")])
    #expect(told.status == 22 && server.requests.count == 7)
    await server.stop()
  }
}
