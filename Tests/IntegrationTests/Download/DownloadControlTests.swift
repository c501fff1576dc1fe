import PenstockTesting
import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// Pause, speed, queue.
@Suite struct DownloadControlTests {
  private static func waitForBytes(_ count: Int64, of download: Download) async {
    for await event in download.events {
      if case .progress(let progress) = event, progress.received >= count { return }
    }
  }

  @Test(arguments: [true, false]) func `a paused download stands still and goes on`(_ keeps: Bool)
    async throws
  {
    let folder = try TestFolder()
    let server = try RangeServer(size: 400_000) { number, _, way in
      if number == 0 { way.halt = 100_000 }
    }
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")), .with { _ in })
      await Self.waitForBytes(100_000, of: download)
      download.pause(keepingConnection: keeps)
      #expect(download.isPaused)
      if keeps { server.server.signal("rest") } else { try await server.server.waitForPeerClose() }
      for _ in 0..<50 { await Task.yield() }
      #expect(download.result == nil)
      download.resume()
      _ = try await download.value
      #expect(server.requests.count == (keeps ? 1 : 2))
      for await event in download.events {
        if case .retry = event { Issue.record("a pause is no failure") }
      }
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `a paused download can be cancelled`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 400_000) { _, _, way in way.halt = 100_000 }
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")), .with { _ in })
      await Self.waitForBytes(100_000, of: download)
      download.pause()
      try await server.server.waitForPeerClose()
      download.cancel()
      let error = await failure { try await download.value }
      #expect(error?.kind == .cancelled && folder.names == ["f.part", "f.part.json"])
    }
    await server.stop()
  }

  @Test func `a limit of speed can be lifted on the way`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 1_000_000)
    try await TestClient.with { client in
      // At this rate it would take a quarter of an hour.
      let download = client.download(
        .get(server.url), to: .file(folder("f")), .with { $0.rateLimit = .bytesPerSecond(1000) })
      await Self.waitForBytes(100, of: download)
      #expect(download.progress.received < 500_000 && download.rateLimit == .bytesPerSecond(1000))
      download.setRateLimit(nil)
      _ = try await download.value
      client.downloads.rateLimit = .bytesPerSecond(1000)
      let other = client.download(.get(server.url), to: .file(folder("g")), .with { _ in })
      await Self.waitForBytes(100, of: other)
      #expect(other.progress.received < 500_000)
      client.downloads.rateLimit = nil
      _ = try await other.value
    }
    #expect(folder.holds(server.content, in: "f") && folder.holds(server.content, in: "g"))
    await server.stop()
  }

  @Test func `segments can be looked at`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 1_000_000) { number, _, way in
      if number > 0 { way.halt = 10_000 }
    }
    try await TestClient.with { client in
      let download = client.download(
        .get(server.url), to: .file(folder("f")),
        .with {
          $0.segments = .count(3)
          $0.minimumSegment = .kibibytes(64)
        })
      #expect(await eventually { download.segments.count == 3 })
      let view = download.segments
      #expect(view.allSatisfy { $0.start <= $0.position && $0.position <= $0.end ?? 0 })
      server.server.open("rest")
      _ = try await download.value
    }
    await server.stop()
  }

  @Test func `nothing is loaded when nothing has changed`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 1000) { _, request, way in
      way.fields = [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")]
      if request.value(of: "If-Modified-Since") != nil { way.status = 304 }
    }
    try await TestClient.with { client in
      let options = DownloadOptions.with { options in
        options.overwrite = .replace
        options.condition = .ifModified
        options.keepsRemoteTime = true
      }
      let first = try await client.download(.get(server.url), to: .file(folder("f")), options).value
      #expect(!first.isUnchanged)
      let second = try await client.download(.get(server.url), to: .file(folder("f")), options).value
      #expect(second.isUnchanged && second.bytes == 1000)
      #expect(server.requests.last?.value(of: "If-Modified-Since") == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
    #expect(folder.holds(server.content, in: "f") && folder.names == ["f"])
    await server.stop()
  }

  @Test func `a file larger than the limit is refused`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 1000)
    let endless = try ScriptedServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        .sendForever(Array("abcd".utf8), chunked: true),
      ]
    }
    try await TestClient.with { client in
      for url in [server.url, endless.url("/f")] {
        let error = await failure {
          try await client.download(
            .get(url), to: .file(folder("f")), .with { $0.maximumSize = .bytes(999) }
          ).value
        }
        #expect(error?.kind == .bodyTooLarge && folder.names.isEmpty)
      }
    }
    await server.stop()
    await endless.stop()
  }

  // MARK: the queue

  @Test func `the queue runs so many at a time, by priority`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 1000) { number, _, way in
      if number == 0 { way.halt = 10 }
    }
    try await TestClient.with { client in
      client.downloads.limit = 1
      let first = await client.downloads.add(.get(server.server.url("/0")), to: .file(folder("0")))
      try await server.server.waitForRequests(1)
      var others: [Download] = []
      for (name, priority) in [("1", 0), ("2", 5), ("3", 1)] {
        others.append(
          await client.downloads.add(
            .get(server.server.url("/" + name)), to: .file(folder(name)), .with { $0.priority = priority }))
      }
      #expect(
        client.downloads.running == 1 && client.downloads.waiting == 3 && client.downloads.all.count == 4)
      server.server.signal("rest")
      _ = try await first.value
      for other in others { _ = try await other.value }
      #expect(await eventually { client.downloads.all.isEmpty && client.downloads.running == 0 })
    }
    #expect(server.requests.map(\.target) == ["/0", "/2", "/3", "/1"])
    await server.stop()
  }

  @Test func `one that waits can be cancelled, and the queue goes on`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 1000) { number, _, way in
      if number == 0 { way.halt = 10 }
    }
    try await TestClient.with { client in
      client.downloads.limit = 1
      let first = await client.downloads.add(.get(server.url), to: .file(folder("0")))
      try await server.server.waitForRequests(1)
      let second = await client.downloads.add(.get(server.url), to: .file(folder("1")))
      second.cancel()
      let error = await failure { try await second.value }
      #expect(error?.kind == .cancelled)
      let third = await client.downloads.add(.get(server.url), to: .file(folder("2")))
      server.server.signal("rest")
      _ = try await first.value
      _ = try await third.value
    }
    #expect(folder.names == ["0", "2"])
    await server.stop()
  }

  @Test func `a queue is taken up by the next process`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 100_000) { number, _, way in
      if number == 0 { way.halt = 50_000 }
    }
    let path = folder("queue.json")
    try await TestClient.with { client in
      client.downloads.limit = 1
      let before = try await client.downloads.keepState(in: path)
      #expect(before.isEmpty)
      var request = Request.get(server.server.url("/a"))
      request.headers.append("Authorization", "Bearer secret")
      request.headers.append("X-Kept", "yes")
      let first = await client.downloads.add(request, to: .file(folder("a")))
      await client.downloads.add(
        .get(server.server.url("/b")), to: .file(folder("b")), .with { $0.digest = .md5 })
      await Self.waitForBytes(50_000, of: first)
      // As a crash would leave it.
      await client.shutdown(.immediate)
      _ = try? await first.value
      #expect(await eventually { client.downloads.running == 0 })
    }
    #expect(folder.text("queue.json")?.contains("secret") == false)
    try await TestClient.with { client in
      let downloads = try await client.downloads.keepState(in: path)
      #expect(downloads.count == 2)
      for download in downloads { _ = try await download.value }
      #expect(await eventually { client.downloads.all.isEmpty })
      let after = try await client.downloads.keepState(in: path)
      #expect(after.isEmpty)
    }
    #expect(folder.holds(server.content, in: "a") && folder.holds(server.content, in: "b"))
    #expect(
      server.requests.contains { $0.value(of: "Range") == "bytes=50000-" && $0.value(of: "X-Kept") == "yes" })
    folder.write("nonsense", to: "queue.json")
    try await TestClient.with { client in
      let error = await failure { try await client.downloads.keepState(in: path) }
      #expect(error?.kind == .readFailed)
    }
    await server.stop()
  }
}
