import PenstockTesting
import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// Taking up what an earlier, interrupted download has left.
@Suite struct ResumeTests {
  /// Loads the first bytes, ends the download, and leaves part and record.
  private static func leave(
    _ count: Int, of server: RangeServer, in folder: TestFolder, client: Client,
    options: DownloadOptions = .with { _ in }
  ) async throws {
    let download = client.download(.get(server.url), to: .file(folder("f")), options)
    for await event in download.events {
      if case .progress(let progress) = event, progress.received >= count { break }
    }
    download.cancel()
    _ = try? await download.value
  }

  /// A server whose first answer stops in the middle.
  private static func halting(
    _ size: Int, at halt: Int, _ later: @escaping @Sendable (Int, inout RangeServer.Way) -> Void = { _, _ in }
  ) throws -> RangeServer {
    try RangeServer(size: size) { number, _, way in
      if number == 0 { way.halt = halt } else { later(number, &way) }
    }
  }

  @Test func `a cancelled download leaves part and record, and the next one goes on from there`() async throws
  {
    let folder = try TestFolder()
    let server = try Self.halting(3_000_000, at: 2_000_000)
    try await TestClient.with { client in
      try await Self.leave(2_000_000, of: server, in: folder, client: client)
      #expect(folder.names == ["f.part", "f.part.json"])
      let download = client.download(.get(server.url), to: .file(folder("f")), .with { $0.digest = .sha256 })
      let seen = await names(of: download)
      #expect(seen == ["started 2000000", "finished"])
      let file = try await download.value
      #expect(file.bytes == 3_000_000 && file.resumedAt == 2_000_000)
      let expected = try Digest.of(server.content, .sha256)
      #expect(file.digest == expected)
    }
    #expect(folder.holds(server.content, in: "f") && folder.names == ["f"])
    let last = try #require(server.requests.last)
    #expect(last.value(of: "Range") == "bytes=2000000-" && last.value(of: "If-Range") == "\"v1\"")
    #expect(last.value(of: "Accept-Encoding") == "identity")
    await server.stop()
  }

  @Test func `the digest goes on from its kept state`() async throws {
    let folder = try TestFolder()
    let server = try Self.halting(600_000, at: 400_000)
    try await TestClient.with { client in
      let options = DownloadOptions.with { $0.digest = .sha512 }
      try await Self.leave(400_000, of: server, in: folder, client: client, options: options)
      let record = try #require(Sidecar(part: folder("f.part")).read())
      #expect(record.digests.count == 1 && record.segments == [[0, 400_000]])
      let file = try await client.download(.get(server.url), to: .file(folder("f")), options).value
      let expected = try Digest.of(server.content, .sha512)
      #expect(file.digest == expected)
    }
    await server.stop()
  }

  @Test func `a download into a folder finds its part by the URL`() async throws {
    let folder = try TestFolder()
    let server = try Self.halting(300_000, at: 200_000) { _, way in
      way.fields = [("Content-Disposition", "attachment; filename=other.bin")]
    }
    try await TestClient.with { client in
      let first = client.download(.get(server.url), to: .directory(folder.path))
      for await event in first.events {
        if case .progress(let progress) = event, progress.received >= 200_000 { break }
      }
      first.cancel()
      _ = try? await first.value
      #expect(folder.names == ["file.bin.part", "file.bin.part.json"])
      let file = try await client.download(.get(server.url), to: .directory(folder.path)).value
      #expect(file.resumedAt == 200_000)
    }
    #expect(folder.read("file.bin") == server.content)
    await server.stop()
  }

  /// What a server may answer that must not be appended, and what then happens.
  private struct Wrong: Sendable, CustomStringConvertible {
    let description: String
    let reason: RestartReason
    let answer: @Sendable (inout RangeServer.Way) -> Void
  }

  private static let wrong: [Wrong] = [
    Wrong(description: "the whole", reason: .rangeIgnored) { $0.ignoresRanges = true },
    Wrong(description: "another state", reason: .changed) { way in
      way.tag = "\"v2\""
      way.content = Array(way.content.reversed())
    },
    Wrong(description: "another total", reason: .totalChanged) {
      $0.contentRange = "bytes 200000-299999/300001"
    },
    Wrong(description: "a later range", reason: .otherRange) {
      $0.contentRange = "bytes 200001-299999/300000"
    },
    Wrong(description: "no range", reason: .noContentRange) { $0.contentRange = "bytes" },
    Wrong(description: "a coded part", reason: .encoded) { $0.fields.append(("Content-Encoding", "gzip")) },
    Wrong(description: "several parts", reason: .multipart) {
      $0.fields.append(("Content-Type", "multipart/byteranges; boundary=x"))
    },
    Wrong(description: "nothing satisfiable", reason: .notSatisfiable) { $0.status = 416 },
  ]

  @Test(arguments: 0..<8) func `an answer that doesn't fit begins the file anew`(_ index: Int) async throws {
    let wrong = Self.wrong[index]
    let folder = try TestFolder()
    let server = try Self.halting(300_000, at: 200_000) { number, way in
      if number == 1 { wrong.answer(&way) }
    }
    try await TestClient.with { client in
      try await Self.leave(200_000, of: server, in: folder, client: client)
      let download = client.download(.get(server.url), to: .file(folder("f")))
      let seen = await names(of: download)
      #expect(seen == ["started 0", "restarted \(wrong.reason.rawValue)", "finished"], "\(wrong)")
    }
    let expected = wrong.reason == .changed ? server.content.reversed() : server.content
    #expect(folder.holds(expected, in: "f") && folder.names == ["f"], "\(wrong)")
    #expect(server.requests.count <= 3)
    await server.stop()
  }

  @Test func `a server that never gives the rest isn't asked for ever`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 300_000) { number, request, way in
      if request.value(of: "Range") == nil { way.cut = 100_000 } else { way.status = 416 }
    }
    try await TestClient.with { client in
      let error = await failure {
        try await client.download(.get(server.url), to: .file(folder("f")), .with { _ in }).value
      }
      #expect(error?.kind == .truncated)
    }
    #expect(server.requests.count < 12 && folder.read("f") == nil)
    await server.stop()
  }

  @Test func `a part that is whole is asked about, and needs no byte more`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 100)
    folder.write(String(repeating: "x", count: 0), to: "f.part")
    let part = try #require(
      try PartFile.openLeftover(folder("f"), overwrite: .never, queue: FileQueue()))
    try part.write([BodyChunk(server.content)], at: 0)
    try part.sidecar.write(
      PartRecord(
        url: server.url, finalURL: server.url, etag: "\"v1\"", lastModified: nil, strong: true, total: 100,
        segments: [[0, 100]], endVerifiable: true), isDurable: true)
    await part.leave()
    try await TestClient.with { client in
      let file = try await client.download(.get(server.url), to: .file(folder("f"))).value
      #expect(file.bytes == 100 && file.resumedAt == 100)
    }
    #expect(folder.holds(server.content, in: "f") && folder.names == ["f"], "the 416's page isn't in it")
    #expect(server.requests.map { $0.value(of: "Range") } == ["bytes=100-"])
    await server.stop()
  }

  @Test func `without a strong validator resuming is opt-in`() async throws {
    for (resume, expected) in [
      (DownloadOptions.Resume.ifUnchanged, ["started 0", "restarted no_validator", "finished"]),
      (.always, ["started 200000", "finished"]), (.never, ["started 0", "finished"]),
    ] {
      let folder = try TestFolder()
      let server = try RangeServer(size: 300_000) { number, _, way in
        way.tag = nil
        if number == 0 { way.halt = 200_000 }
      }
      try await TestClient.with { client in
        try await Self.leave(
          200_000, of: server, in: folder, client: client, options: .with { $0.keepsPartWhenCancelled = true }
        )
        #expect(folder.names == ["f.part", "f.part.json"])
        let download = client.download(.get(server.url), to: .file(folder("f")), .with { $0.resume = resume })
        #expect(await names(of: download) == expected)
      }
      #expect(folder.holds(server.content, in: "f"))
      #expect(server.requests.last?.value(of: "If-Range") == nil)
      await server.stop()
    }
  }

  @Test(arguments: ["{", "", "{\"version\":9}", "\u{0}\u{0}\u{0}"]) func `a damaged record begins anew`(
    _ text: String
  ) async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 50_000)
    folder.write(String(repeating: "wrong", count: 1000), to: "f.part")
    folder.write(text, to: "f.part.json")
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")))
      #expect(await names(of: download) == ["started 0", "restarted unusable_part", "finished"])
    }
    #expect(folder.holds(server.content, in: "f") && folder.names == ["f"])
    await server.stop()
  }

  @Test func `a record that claims more than there is begins anew`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 50_000)
    folder.write("short", to: "f.part")
    try Sidecar(part: folder("f.part")).write(
      PartRecord(
        url: server.url, finalURL: server.url, etag: "\"v1\"", strong: true, total: 50_000,
        segments: [[0, 40_000]], endVerifiable: true), isDurable: false)
    try await TestClient.with { client in
      _ = try await client.download(.get(server.url), to: .file(folder("f"))).value
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `a refused request leaves what an earlier run has kept`() async throws {
    let folder = try TestFolder()
    let server = try Self.halting(300_000, at: 200_000) { number, way in
      if number == 1 { way.status = 404 }
    }
    try await TestClient.with { client in
      try await Self.leave(200_000, of: server, in: folder, client: client)
      let error = await failure { try await client.download(.get(server.url), to: .file(folder("f"))).value }
      #expect(error?.status == 404 && folder.names == ["f.part", "f.part.json"])
      let file = try await client.download(.get(server.url), to: .file(folder("f"))).value
      #expect(file.resumedAt == 200_000)
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `discarding leaves nothing`() async throws {
    let folder = try TestFolder()
    let server = try Self.halting(300_000, at: 200_000)
    try await TestClient.with { client in
      let download = client.download(.get(server.url), to: .file(folder("f")))
      for await event in download.events { if case .started = event { break } }
      download.discard()
      _ = try? await download.value
    }
    #expect(folder.names.isEmpty)
    await server.stop()
  }

  @Test func `a wrong checksum gives no file, and a kept one by choice`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 10_000)
    let right = try Digest.of(server.content, .md5)
    let wrong = try Digest.of([1], .md5)
    try await TestClient.with { client in
      let error = await failure {
        try await client.download(.get(server.url), to: .file(folder("f")), .with { $0.checksum = wrong })
          .value
      }
      #expect(error?.kind == .checksumMismatch && error?.code == 94 && folder.names.isEmpty)
      let aside = await failure {
        try await client.download(
          .get(server.url), to: .file(folder("f")),
          .with {
            $0.checksum = wrong
            $0.mismatch = .keepAside
          }
        ).value
      }
      #expect(aside?.kind == .checksumMismatch && folder.holds(server.content, in: "f.bad"))
      let file = try await client.download(
        .get(server.url), to: .file(folder("f")), .with { $0.checksum = right }
      ).value
      #expect(file.isChecksumVerified)
    }
    #expect(folder.names == ["f", "f.bad"])
    await server.stop()
  }

  @Test func `the digest that the server tells is demanded`() async throws {
    for (bytes, isRight) in [([UInt8]("x".utf8), false), (nil, true)] {
      let folder = try TestFolder()
      let server = try RangeServer(size: 10_000) { _, _, way in
        let digest = try? Digest.of(bytes ?? way.content, .sha256)
        way.fields = [("Repr-Digest", "sha-256=:\(Base64.encode(digest?.bytes ?? [])):")]
      }
      try await TestClient.with { client in
        let error = await failure {
          try await client.download(.get(server.url), to: .file(folder("f"))).value
        }
        #expect(error?.kind == (isRight ? nil : .checksumMismatch))
      }
      #expect(folder.names == (isRight ? ["f"] : []))
      await server.stop()
    }
  }

  @Test func `a file of unknown length is continued by its tag`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 300_000) { number, _, way in
      if number == 0 {
        way.isCloseDelimited = true
        way.halt = 200_000
      }
    }
    try await TestClient.with { client in
      try await Self.leave(
        200_000, of: server, in: folder, client: client, options: .with { $0.keepsPartWhenCancelled = true })
      let download = client.download(.get(server.url), to: .file(folder("f")))
      // Nobody knows whether what is there was cut: it isn't built upon.
      #expect(await names(of: download) == ["started 0", "restarted no_validator", "finished"])
    }
    #expect(folder.holds(server.content, in: "f"))
    await server.stop()
  }

  @Test func `a part in chunks tells the total by its range`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(scripts: [
      [
        .expectRequest,
        .send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), .close,
      ],
      [
        .expectRequest,
        .send(
          "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n2\r\nwo\r\n"),
        .waitForSignal("rest"), .send("3\r\nrld\r\n0\r\n\r\n"),
      ],
    ])
    try await TestClient.with { client in
      var options = DownloadOptions()
      options.retry.backoff.base = .milliseconds(1)
      let download = client.download(.get(server.url), to: .file(folder("f")), options)
      for await event in download.events {
        if case .progress(let progress) = event, progress.total == 10 { server.open("rest") }
      }
      _ = try await download.value
      #expect(folder.text("f") == "helloworld")
      #expect(server.requests.map { $0.value(of: "Range") } == [nil, "bytes=5-"])
      #expect(server.requests.last?.value(of: "If-Range") == "\"a\"")
    }
    await server.stop()
  }
}
