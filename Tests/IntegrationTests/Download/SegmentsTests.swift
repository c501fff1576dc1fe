import PenstockTestSupport
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

/// Ranges at once, from one place and from several.
@Suite struct SegmentsTests {
  private static let small = DownloadOptions.with { options in
    options.segments = .count(4)
    options.minimumSegment = .kibibytes(64)
    options.digest = .sha256
  }

  private static func small(_ change: (inout DownloadOptions) -> Void) -> DownloadOptions {
    var options = small
    change(&options)
    return options
  }

  @Test func `four segments make one file, and its digest in order`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 3_000_000)
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")), Self.small)
      let file = try await download.value
      let expected = try Digest.of(server.content, .sha256)
      #expect(file.digest == expected)
      for await event in download.events {
        if case .started(let start) = event { #expect(start.segments == 4 && start.total == 3_000_000) }
      }
    }
    #expect(folder.holds(server.content, in: "f") && folder.names == ["f"])
    #expect(server.requests.count >= 4 && server.server.connectionCount >= 2)
    await server.stop()
  }

  @Test func `segments survive cuts`() async throws {
    let folder = try TestFolder()
    let generator = Mutex(SeededGenerator(seed: 8))
    let server = try RangeServer(size: 2_000_000) { number, _, way in
      if number % 2 == 1 { way.cut = generator.withLock { 1 + $0.next(below: 100_000) } }
    }
    try await TestClient.with { client in
      let file = try await client.download(.get(server.url), to: .file(folder("f")), Self.small).value
      let expected = try Digest.of(server.content, .sha256)
      #expect(file.digest == expected)
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `a server without ranges gives one stream`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 500_000) { _, _, way in way.ignoresRanges = true }
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")), Self.small)
      #expect(await names(of: download) == ["started 0", "finished"])
    }
    #expect(folder.holds(server.content, in: "f") && server.requests.count == 1)
    await server.stop()
  }

  @Test func `without a strong validator there is one stream`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 500_000) { _, _, way in way.tag = nil }
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")), Self.small)
      #expect(await names(of: download) == ["started 0", "finished"])
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `a server that lies about ranges gets one clean restart`() async throws {
    for lie in ["bytes 0-65535/500000", "bytes 1-2/3", "bytes 65536-131071/500001"] {
      let folder = try TestFolder()
      let server = try RangeServer(size: 500_000) { number, request, way in
        if number > 0, request.value(of: "Range") != nil { way.contentRange = lie }
      }
      try await TestClient.with { client in
        let download = client.download(.get(server.url), to: .file(folder("f")), Self.small)
        let seen = await names(of: download)
        #expect(seen.first == "started 0" && seen.last == "finished", "\(lie)")
        #expect(seen.count { $0.hasPrefix("restarted") } == 1, "\(lie)")
      }
      #expect(folder.holds(server.content, in: "f"), "\(lie)")
      await server.stop()
    }
  }

  @Test func `a total that changes midway begins anew with the other file`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 500_000) { number, _, way in
      guard number > 0 else { return }
      way.content += [1, 2, 3]
      way.tag = "\"v2\""
    }
    try await TestClient.with { client in
      let file = try await client.download(.get(server.url), to: .file(folder("f")), Self.small).value
      #expect(file.bytes == 500_003)
    }
    #expect(folder.holds(server.content + [1, 2, 3], in: "f"))
    await server.stop()
  }

  @Test func `a server that takes one connection at a time still gives the file`() async throws {
    let folder = try TestFolder()
    let running = Mutex(0)
    let server = try RangeServer(size: 800_000) { number, _, way in
      let isFree = running.withLock { running in
        running += 1
        return running <= 1
      }
      if !isFree { way.status = 503 }
      way.before = [.run { _ in running.withLock { $0 -= 1 } }]
      if !isFree { running.withLock { $0 -= 1 } }
    }
    try await TestClient.with { client in
      _ = try await client.download(.get(server.url), to: .file(folder("f")), Self.small).value
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `a segmented download is continued where its ranges were`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 2_000_000) { number, request, way in
      // All but the first piece stop in the middle.
      if (1...4).contains(number) { way.halt = 50_000 }
    }
    try await TestClient.with { client in
      let first = client.download(.get(server.url), to: .file(folder("f")), Self.small)
      for await event in first.events {
        if case .progress(let progress) = event, progress.received >= 65_536 + 3 * 50_000 { break }
      }
      first.cancel()
      _ = try? await first.value
      let record = try #require(Sidecar(part: folder("f.part")).read())
      #expect(record.segments.count >= 2 && record.total == 2_000_000)
      server.server.open("rest")
      let file = try await client.download(.get(server.url), to: .file(folder("f")), Self.small).value
      #expect(file.resumedAt == record.done.count)
      let expected = try Digest.of(server.content, .sha256)
      #expect(file.digest == expected)
    }
    #expect(folder.holds(server.content, in: "f") && folder.names == ["f"])
    await server.stop()
  }

  @Test func `an empty file needs no segments`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 0)
    try await TestClient.with { client in
      let file = try await client.download(.get(server.url), to: .file(folder("f")), Self.small).value
      #expect(file.bytes == 0)
    }
    #expect(folder.read("f") == [] && folder.names == ["f"])
    await server.stop()
  }

  // MARK: several places

  @Test func `mirrors share the work when they agree`() async throws {
    let folder = try TestFolder()
    let one = try RangeServer(size: 2_000_000)
    let two = try RangeServer(size: 2_000_000)
    try await TestClient.with { client in
      let options = Self.small { $0.mirrors = [two.url] }
      _ = try await client.download(.get(one.url), to: .file(folder("f")), options).value
    }
    #expect(folder.holds(one.content, in: "f") && !one.requests.isEmpty && !two.requests.isEmpty)
    await one.stop()
    await two.stop()
  }

  @Test func `a mirror with another file gives no byte`() async throws {
    for hasSameTag in [true, false] {
      let folder = try TestFolder()
      let one = try RangeServer(size: 1_000_000)
      let two = try RangeServer(size: hasSameTag ? 1_000_001 : 1_000_000, seed: 2) { _, _, way in
        if !hasSameTag { way.tag = "\"other\"" }
      }
      try await TestClient.with { client in
        let options = Self.small { $0.mirrors = [two.url] }
        _ = try await client.download(.get(one.url), to: .file(folder("f")), options).value
      }
      #expect(folder.holds(one.content, in: "f"))
      await one.stop()
      await two.stop()
    }
  }

  @Test func `a mirror takes over when the first place fails`() async throws {
    let folder = try TestFolder()
    let one = try RangeServer(size: 400_000) { number, _, way in
      if number == 0 { way.cut = 100_000 } else { way.status = 404 }
    }
    let two = try RangeServer(size: 400_000)
    try await TestClient.with { client in
      let options = DownloadOptions.with { $0.mirrors = [two.url] }
      _ = try await client.download(.get(one.url), to: .file(folder("f")), options).value
      let gone = try RangeServer(size: 1) { _, _, way in way.status = 404 }
      let metalink = Metalink.File(
        name: "g", size: 400_000, digests: [try Digest.of(two.content, .sha256)], urls: [gone.url, two.url])
      let file = try await client.download(metalink, into: folder.path).value
      #expect(file.isChecksumVerified)
      await gone.stop()
    }
    #expect(folder.holds(two.content, in: "f") && folder.holds(two.content, in: "g"))
    #expect(two.requests.contains { $0.value(of: "Range") == "bytes=100000-" })
    await one.stop()
    await two.stop()
  }

  @Test func `a slow disk holds segments back and loses nothing`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 3_000_000)
    let disk = TestDisk(waitsForTurns: true)
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")), Self.small, calls: disk.calls)
      let giver = Task {
        while download.result == nil {
          // The disk's slowness itself: a write each two milliseconds.
          disk.giveTurns()
          try await Task.sleep(for: .milliseconds(2))
        }
      }
      _ = try await download.value
      giver.cancel()
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `a full disk is typed and keeps what can be continued`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 4_000_000)
    let disk = TestDisk()
    disk.set { $0.failure = (28, 1_500_000) }
    try await TestClient.with { client in
      let error = await failure {
        try await client.download(.get(server.url), to: .file(folder("f")), Self.small, calls: disk.calls)
          .value
      }
      #expect(error?.kind == .diskFull && folder.names == ["f.part", "f.part.json"])
      let file = try await client.download(.get(server.url), to: .file(folder("f")), Self.small).value
      #expect(file.resumedAt > 0)
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }
}
