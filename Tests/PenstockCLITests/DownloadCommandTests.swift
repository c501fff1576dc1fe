import Foundation
import Glibc
import PenstockTesting
import Testing

@Suite struct DownloadCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: [String]) async throws -> CommandRun {
    try await CommandRun.run(["download", "--dir", folder.path] + arguments)
  }

  @Test func a_file_arrives_under_the_name_of_its_URL() async throws {
    let server = try ChunkServer()
    let run = try await run([server.url("/bytes/3m")])
    #expect(run.status == 0 && run.output.isEmpty)
    // A slow machine may have told of progress before.
    #expect(run.lastError.hasPrefix("3m  3.0 MiB  in "))
    #expect(folder.names == ["3m"])
    let bytes = try #require(folder.bytes("3m"))
    #expect(bytes.count == 3 << 20 && TestContent.firstMismatch(in: bytes, at: 0) == nil)
    await server.stop()
  }

  @Test func the_server_may_name_the_file_but_not_its_folder() async throws {
    let disposition = "attachment; filename=\"../../evil name.txt\""
    let server = try ScriptedServer(
      script: .response(fields: [("Content-Disposition", disposition)], body: "hello"))
    #expect(try await run(["-O", "-s", server.url("/x?y")]).errors.isEmpty)
    #expect(folder.names == ["evil name.txt"])
    let named = try await run(["-o", "mine", server.url("/x")])
    #expect(named.status == 0 && folder.names == ["evil name.txt", "mine"])
    await server.stop()
  }

  @Test func what_exists_stays_is_numbered_or_is_replaced() async throws {
    let server = try ScriptedServer(script: .response(body: "new"))
    try folder.put("a.txt", "old")
    let never = try await run([server.url("/a.txt")])
    #expect(never.status == 23 && never.errors.contains("exists already"))
    #expect(folder.names == ["a.txt"] && folder.bytes("a.txt") == Array("old".utf8))
    let rename = try await run(["--overwrite", "rename", server.url("/a.txt")])
    #expect(rename.status == 0 && rename.lastError.hasPrefix("a (1).txt  3 B  in "))
    #expect(folder.bytes("a.txt") == Array("old".utf8) && folder.bytes("a (1).txt") == Array("new".utf8))
    let replace = try await run(["--overwrite=replace", server.url("/a.txt")])
    #expect(replace.status == 0 && folder.bytes("a.txt") == Array("new".utf8))
    #expect(folder.names == ["a (1).txt", "a.txt"])
    await server.stop()
  }

  @Test func a_name_that_can_not_be_is_refused_before_the_request() async throws {
    let server = try ChunkServer()
    try folder.put("file", "")
    let url = server.url("/bytes/1k")
    for arguments in [
      ["-o", folder.path], ["-o", String(repeating: "n", count: 300)], ["-o", "none/x"], ["-o", "file/x"],
      ["--dir", folder.path + "/none/none"], ["-o", "file"],
    ] {
      let run = try await run(arguments + [url])
      #expect(run.status == 23 && run.errors.split(separator: "\n").count == 1, "\(arguments)")
    }
    #expect(server.requestCount == 0 && folder.names == ["file"])
    await server.stop()
  }

  @Test func failures_leave_nothing_behind_and_have_curl_s_numbers() async throws {
    let server = try ChunkServer()
    for (path, status) in [("/status/404", 22), ("/truncate/1m", 18), ("/drop/1m", 56)] {
      let run = try await run([server.url(path)])
      #expect(run.status == status, "\(path): \(run.errors)")
      #expect(run.lastError.hasPrefix("penstock: GET http") && folder.names.isEmpty, "\(path)")
    }
    await server.stop()
  }

  @Test func content_coding_is_neither_asked_for_nor_taken_off() async throws {
    let server = try ScriptedServer(
      script: .response(fields: [("Content-Encoding", "gzip")], body: "no gzip"))
    #expect(try await run([server.url("/x.gz")]).status == 0)
    #expect(folder.bytes("x.gz") == Array("no gzip".utf8))
    #expect(server.requests.first?.value(of: "Accept-Encoding") == "identity")
    await server.stop()
  }

  @Test func programs_get_a_line_for_each_happening() async throws {
    let server = try ChunkServer()
    let run = try await run(["--progress", "json", server.url("/bytes/1m")])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.events.first == "started" && run.events.last == "finished")
    #expect(Set(run.events.dropFirst().dropLast()) == ["progress"])
    let started = try #require(run.lines.first)
    #expect(Set(started.keys) == ["event", "url", "file", "total", "resumed_at", "segments"])
    #expect(started["url"] as? String == server.url("/bytes/1m"))
    #expect(started["file"] as? String == folder.path + "/1m")
    #expect(started["total"] as? Int == 1 << 20)
    #expect(started["resumed_at"] as? Int == 0 && started["segments"] as? Int == 1)
    let progress = try #require(run.lines.dropLast().last)
    #expect(Set(progress.keys) == ["event", "received", "total", "rate", "eta"])
    let finished = try #require(run.lines.last)
    #expect(Set(finished.keys) == ["event", "file", "bytes", "sha256", "duration"])
    #expect(finished["bytes"] as? Int == 1 << 20)
    let digest = try await CommandProcess("sha256sum < '\(folder.path)/1m'")
    #expect(digest.output.hasPrefix(try #require(finished["sha256"] as? String)))
    await server.stop()
  }

  @Test func of_several_each_has_its_lines_and_one_failure_is_the_status() async throws {
    let server = try ChunkServer()
    let (good, bad) = (server.url("/bytes/100k"), server.url("/truncate/10k"))
    let run = try await run(["--progress", "json", good, bad])
    #expect(run.status == 18)
    for line in run.lines { #expect([good, bad].contains(line["url"] as? String)) }
    let events = { (url: String) in
      run.lines.filter { $0["url"] as? String == url }.compactMap { $0["event"] as? String }
    }
    #expect(events(good).last == "finished" && events(bad).last == "failed")
    let failed = try #require(run.lines.first { $0["event"] as? String == "failed" })
    #expect(failed["code"] as? Int == 18 && failed["kind"] as? String == "truncated")
    #expect(failed["phase"] as? String == "body" && failed["status"] as? Int == 200)
    #expect(failed["received"] as? Int == 5 << 10)
    #expect(folder.names == ["100k"])

    let two = try await self.run(["-j", "1", server.url("/status/404"), bad])
    #expect(two.status == 1 && two.errors.split(separator: "\n").count { $0.hasPrefix("penstock: ") } == 2)
    await server.stop()
  }

  @Test func no_more_run_at_a_time_than_asked_for() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "2"), ("Connection", "close")]), .send("a"),
      .waitForSignal("go"), .send("b"),
    ])
    let urls = (0..<5).map { server.url("/f\($0)") }
    let running = try CommandRun.start(["download", "--dir", folder.path, "-j", "2"] + urls)
    while server.requests.count < 2 { await Task.yield() }
    server.open("go")
    let run = try await running.finish()
    #expect(run.status == 0 && folder.names == ["f0", "f1", "f2", "f3", "f4"])
    await server.stop()
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)])
  func an_interrupt_leaves_no_file_and_says_cancelled(signal: Int32, status: Int) async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "10")]), .send("12345"), .stall,
    ])
    let running = try CommandRun.start([
      "download", "--dir", folder.path, "--progress", "json", server.url("/a"), server.url("/b"),
    ])
    while folder.names.filter({ $0.hasSuffix(".part") }).count < 2 { await Task.yield() }
    kill(running.process.processIdentifier, signal)
    let run = try await running.finish()
    #expect(run.status == status && run.errors.isEmpty)
    let failed = run.lines.filter { $0["event"] as? String == "failed" }
    #expect(failed.count == 2)
    for line in failed {
      #expect(line["kind"] as? String == "cancelled" && line["code"] as? Int == status)
    }
    #expect(folder.names.allSatisfy { $0.contains(".part") })
    await server.stop()
  }

  @Test func a_kill_at_any_instant_leaves_no_half_file() async throws {
    let server = try ChunkServer()
    let size = 24 << 20
    for round in 0..<20 {
      let running = try CommandRun.start([
        "download", "--dir", folder.path, "-o", "f", server.url("/bytes/\(size)"),
      ])
      // Instants are counted in what has come, so that they fall into the download on any machine.
      let instant = size / 20 * round
      while running.process.isRunning, partSize < instant, folder.bytes("f") == nil { await Task.yield() }
      kill(running.process.processIdentifier, SIGKILL)
      _ = try await running.finish()
      if let bytes = folder.bytes("f") {
        #expect(bytes.count == size && TestContent.firstMismatch(in: bytes, at: 0) == nil, "round \(round)")
        unlink(folder.path + "/f")
      }
    }
    await server.stop()
  }

  private var partSize: Int {
    var facts = stat()
    return stat(folder.path + "/f.part", &facts) == 0 ? Int(facts.st_size) : -1
  }

  @Test func a_reader_of_the_lines_that_leaves_ends_the_run_quietly() async throws {
    let server = try ChunkServer()
    let running = try CommandRun.start([
      "download", "--dir", folder.path, "--progress", "json", server.url("/slow/500m?rate=1000000"),
    ])
    _ = running.output.fileHandleForReading.readData(ofLength: 10)
    try running.output.fileHandleForReading.close()
    await withCheckedContinuation { continuation in
      Thread {
        running.process.waitUntilExit()
        continuation.resume()
      }.start()
    }
    #expect(running.process.terminationStatus == 23)
    #expect(running.errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
    #expect(folder.names.allSatisfy { $0.contains(".part") })
    await server.stop()
  }

  @Test func bars_leave_one_plain_line_a_file_on_a_terminal() async throws {
    let server = try ChunkServer()
    for columns: UInt16 in [20, 80, 200] {
      let terminal = try PseudoTerminal(columns: columns, rows: 6)
      let paths = (0..<9).map { "/slow/\(10_000 + $0)?rate=40000" } + ["/status/404"]
      let running = try CommandRun.start(
        ["download", "--dir", folder.path, "--overwrite", "replace", "-j", "9"]
          + paths.map { server.url($0) },
        terminal: terminal.device)
      try terminal.device.close()
      let text = await terminal.readAll()
      _ = try await running.finish()
      #expect(text.contains("\u{1B}[4A") && text.contains("of 10 done") == (columns > 20))
      var screen = ScreenModel(columns: Int(columns), height: 6)
      screen.feed(text)
      #expect(screen.unknown.isEmpty)
      let joined = screen.text.joined(separator: "\n")
      #expect(!joined.contains("[=") && !joined.contains("%") && !joined.contains("ETA"))
      if columns >= 80 {
        let finished = screen.text.filter { $0.contains("  9.8 KiB  in 0.") }
        #expect(finished.count == 9, "\(joined)")
        #expect(screen.text.filter { $0.hasPrefix("penstock: GET ") }.count == 1)
      }
    }
    await server.stop()
  }

  @Test func get_shows_progress_on_a_terminal_only_when_its_output_goes_elsewhere() async throws {
    let server = try ChunkServer()
    let url = server.url("/slow/60000?rate=50000")
    for (options, shows) in [([], true), (["-s"], false)] {
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      let running = try CommandRun.start(["get", url] + options, terminal: terminal.device)
      try terminal.device.close()
      async let text = terminal.readAll()
      let run = try await running.finish()
      #expect(run.status == 0 && run.output.unicodeScalars.count > 0)
      var screen = ScreenModel(columns: 80, height: 24)
      screen.feed(await text)
      #expect(await text.contains("ETA") == shows)
      #expect(screen.text.isEmpty && screen.unknown.isEmpty)
    }
    await server.stop()
  }

  @Test func what_makes_no_sense_is_refused() async throws {
    for arguments in [
      ["-I"], ["-o", "-"], ["-o", "a", "-O"], ["-o", "a", "http://h/"], ["-j", "0"],
      ["--progress", "x"],
      ["--overwrite", "x"], ["--segments", "0"], ["--dir", ""], ["--segments", "x"], ["--segments", "65"],
      ["--checksum", "md5=00"], ["--checksum", "crc=00"], ["--checksum", "md5"], ["--mirror", ""],
      ["--mirror", "http://h/", "http://h/y"],
      ["--checksum", "md5=" + String(repeating: "0", count: 32), "http://h/y"],
    ] {
      let run = try await run(arguments + ["http://127.0.0.1:1/x"])
      #expect(run.status == 2 && run.errors.split(separator: "\n").count == 1, "\(arguments)")
    }
    #expect(
      try await run(["--no-continue", "--segments", "auto", "--retry", "0", "-f", "http://127.0.0.1:1/x"])
        .status == 7)
  }
}
