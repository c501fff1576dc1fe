import PenstockTesting
import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// One run that mends its losses itself.
@Suite struct HealingTests {
  @Test func `a line that breaks a hundred times costs no byte twice`() async throws {
    let folder = try TestFolder()
    var generator = SeededGenerator(seed: 77)
    let cuts = (0..<100).map { _ in 1 + generator.next(below: 100_000) }
    let size = cuts.reduce(100_000, +)
    let server = try RangeServer(size: size) { number, _, way in
      if number < cuts.count { way.cut = cuts[number] }
    }
    try await TestClient.with { client in
      let file = try await client.download(
        .get(server.url), to: .file(folder("f")), .with { $0.digest = .sha256 }
      ).value
      let expected = try Digest.of(server.content, .sha256)
      #expect(file.digest == expected)
    }
    #expect(folder.holds(server.content, in: "f") && folder.names == ["f"])
    #expect(server.requests.count > cuts.count, "every cut has happened")
    #expect(server.bytesSent <= size * 102 / 100)
    await server.stop()
  }

  @Test func `a stalled transfer is taken up elsewhere`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 300_000) { number, _, way in
      if number == 0 { way.halt = 100_000 }
    }
    try await TestClient.with({ $0.timeouts.idle = .milliseconds(300) }) { client in
      let download = client.download(.get(server.url), to: .file(folder("f")), .with { _ in })
      let seen = await names(of: download)
      #expect(seen.prefix(2) == ["started 0", "retry"] && seen.last == "finished")
    }
    #expect(folder.holds(server.content, in: "f"))
    #expect(server.requests.contains { $0.value(of: "Range") == "bytes=100000-" })
    await server.stop()
  }

  @Test func `a busy server is asked again, a missing file isn't`() async throws {
    let folder = try TestFolder()
    let busy = try RangeServer(size: 1000) { number, _, way in
      if number < 2 {
        way.status = 503
        way.fields = [("Retry-After", "0")]
      }
    }
    let missing = try RangeServer(size: 1000) { _, _, way in way.status = 404 }
    try await TestClient.with { client in
      _ = try await client.download(.get(busy.url), to: .file(folder("f")), .with { _ in }).value
      let error = await failure { try await client.download(.get(missing.url), to: .file(folder("g"))).value }
      #expect(error?.status == 404)
    }
    #expect(busy.requests.count == 3 && missing.requests.count == 1 && folder.names == ["f"])
    await busy.stop()
    await missing.stop()
  }

  @Test func `an expired URL is renewed in the middle`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 200_000) { number, request, way in
      if number == 0 {
        way.cut = 50_000
      } else if !request.target.contains("fresh") {
        way.status = 403
      }
    }
    let fresh = server.url + "?signature=fresh"
    try await TestClient.with { client in
      let options = DownloadOptions.with { options in
        options.urlProvider = { refused in
          #expect(refused.status == 403)
          return fresh
        }
      }
      _ = try await client.download(.get(server.url), to: .file(folder("f")), options).value
    }
    #expect(folder.holds(server.content, in: "f") && server.requests.count == 3)
    #expect(server.requests.last?.value(of: "Range") == "bytes=50000-")
    await server.stop()
  }

  @Test func `a URL provider that gives nothing new ends the download`() async throws {
    let folder = try TestFolder()
    let server = try RangeServer(size: 1000) { _, _, way in way.status = 410 }
    let url = server.url
    try await TestClient.with { client in
      let error = await failure {
        try await client.download(.get(url), to: .file(folder("f")), .with { $0.urlProvider = { _ in url } })
          .value
      }
      #expect(error?.status == 410)
    }
    #expect(server.requests.count <= 5)
    await server.stop()
  }

  @Test func `a resumable body is one stream over many losses`() async throws {
    var generator = SeededGenerator(seed: 5)
    let cuts = (0..<12).map { _ in 1 + generator.next(below: 60_000) }
    let server = try RangeServer(size: 600_000) { number, _, way in
      if number < cuts.count { way.cut = cuts[number] }
    }
    try await TestClient.with { client in
      var request = Request.get(server.url)
      request.isResumable = true
      let response = try await client.send(request)
      let bytes = try await response.body.collect(upTo: .mebibytes(1))
      #expect(bytes == server.content)
      #expect(await eventually { client.isIdle })
    }
    #expect(server.bytesSent <= 600_000 && server.requests.count == 13)
    await server.stop()
  }

  @Test(arguments: ["changed", "ignored", "other", "gone"]) func `a body that can't go on is a typed error`(
    _ how: String
  ) async throws {
    let server = try RangeServer(size: 100_000) { number, _, way in
      if number == 0 {
        way.cut = 40_000
        return
      }
      switch how {
      case "changed": way.tag = "\"v2\""
      case "ignored": way.ignoresRanges = true
      case "other": way.contentRange = "bytes 0-99999/100000"
      default: way.status = 404
      }
    }
    try await TestClient.with { client in
      var request = Request.get(server.url)
      request.isResumable = true
      let response = try await client.send(request)
      var received: [UInt8] = []
      var iterator = response.body.makeAsyncIterator()
      let error = await failure {
        while let chunk = try await iterator.next() { received += chunk }
      }
      #expect(error?.kind == (how == "gone" ? .httpStatus : .rangeNotSatisfiable), "\(how)")
      #expect(received == Array(server.content[..<40_000]))
      let again = await failure { try await iterator.next() }
      #expect(again?.kind == error?.kind)
    }
    #expect(server.requests.count == 2)
    await server.stop()
  }

  @Test func `without a validator a loss is thrown as ever`() async throws {
    let server = try RangeServer(size: 1000) { _, _, way in
      way.tag = "W/\"weak\""
      way.cut = 10
    }
    try await TestClient.with { client in
      var request = Request.get(server.url)
      request.isResumable = true
      let response = try await client.send(request)
      let error = await failure { try await response.body.collect(upTo: .mebibytes(1)) }
      #expect(error?.kind == .truncated)
    }
    #expect(server.requests.count == 1)
    await server.stop()
  }

  @Test func `leaving a resumable body ends its exchange`() async throws {
    let server = try RangeServer(size: 300_000) { number, _, way in
      if number == 0 { way.cut = 100 } else { way.halt = 1000 }
    }
    try await TestClient.with { client in
      var request = Request.get(server.url)
      request.isResumable = true
      var response: Response? = try await client.send(request)
      var iterator = response?.body.makeAsyncIterator()
      response = nil
      var count = 0
      while count < 1100, let chunk = try await iterator?.next() { count += chunk.count }
      #expect(count == 1100)
      iterator = nil
      try await server.server.waitForPeerClose(connection: 1)
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }
}
