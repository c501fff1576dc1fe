import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// However a reader leaves, the server sees it at once. The limit is ten times what is promised, for loaded
/// machines.
@Suite(.timeLimit(.minutes(1))) struct LeavingEarlyTests {
  private static let limit = Duration.seconds(1)

  private func endless() throws -> ScriptedServer {
    try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]),
      .sendForever([UInt8](repeating: 120, count: 16384), chunked: true),
    ])
  }

  private func silent() throws -> ScriptedServer {
    try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]), .chunk("hello"), .stall,
    ])
  }

  private func expectClose(_ server: ScriptedServer, since left: ContinuousClock.Instant) async throws {
    let seen = try await server.waitForPeerClose()
    #expect(seen - left < Self.limit, "seen after \(seen - left)")
    await server.stop()
  }

  @Test func `breaking out of the loop ends an endless body`() async throws {
    let server = try endless()
    try await TestClient.with { client in
      var count = 0
      for try await _ in try await client.send(.get(server.url)).body {
        count += 1
        if count == 3 { break }
      }
      try await expectClose(server, since: .now)
      #expect(await eventually { client.gauges.running == 0 })
    }
  }

  @Test func `dropping an unread response ends it`() async throws {
    let server = try silent()
    try await TestClient.with { client in
      _ = try await client.send(.get(server.url))
      try await expectClose(server, since: .now)
    }
  }

  @Test func `dropping an iterator ends the exchange of a silent peer`() async throws {
    let server = try silent()
    try await TestClient.with { client in
      var iterator: ResponseBody.Iterator? = try await client.send(.get(server.url)).body.makeAsyncIterator()
      _ = try await iterator?.next()
      iterator = nil
      try await expectClose(server, since: .now)
    }
  }

  @Test func `leaving the events after the head ends the exchange`() async throws {
    let server = try silent()
    try await TestClient.with { client in
      for try await event in client.events(.get(server.url)) {
        if case .head = event { break }
      }
      try await expectClose(server, since: .now)
    }
  }

  @Test func `events that are never iterated send nothing`() async throws {
    let server = try silent()
    try await TestClient.with { client in
      _ = client.events(.get(server.url))
      let events = client.events(.get(server.url("/second")))
      for try await event in events {
        if case .head = event { break }
      }
      let error = await failure { for try await _ in events {} }
      #expect(error?.kind == .alreadyConsumed)
      #expect(server.requests.map(\.target) == ["/second"])
    }
    await server.stop()
  }

  @Test func `a cancelled response throws to its reader`() async throws {
    let server = try silent()
    try await TestClient.with { client in
      let response = try await client.send(.get(server.url))
      var iterator = response.body.makeAsyncIterator()
      _ = try await iterator.next()
      response.cancel()
      let left = ContinuousClock.now
      let error = await failure { try await iterator.next() }
      #expect(error?.kind == .cancelled)
      try await expectClose(server, since: left)
    }
  }

  @Test func `an open response outlives its client`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "10")]), .send("hello"), .waitForSignal("rest"),
      .send("world"),
    ])
    var client: Client? = Client()
    let response = try #require(try await client?.send(.get(server.url)))
    client = nil
    server.signal("rest")
    let bytes = try await response.body.collect(upTo: .mebibytes(1))
    #expect(String(decoding: bytes, as: UTF8.self) == "helloworld")
    await server.stop()
  }

  @Test func `a reader that ignores its cancellation gets no more than the chunk at hand`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "\(1 << 20)")]), .sendContent(count: 1 << 20), .stall,
    ])
    try await TestClient.with { client in
      let response = try await client.send(.get(server.url))
      // Where between the marks it is held depends on how the bytes arrive, and on how many are received at once.
      #expect(await eventually { client.gauges.bufferedBytes >= 512 << 10 })
      let reader = Task { () -> (Int, HTTPError?) in
        var chunks = 0
        var iterator = response.body.makeAsyncIterator()
        do throws(HTTPError) {
          while try await iterator.next() != nil {
            chunks += 1
            withUnsafeCurrentTask { $0?.cancel() }
          }
        } catch {
          return (chunks, error)
        }
        return (chunks, nil)
      }
      let (chunks, error) = await reader.value
      #expect(chunks == 1)
      #expect(error?.kind == .cancelled)
    }
    await server.stop()
  }

  @Test func `other streams see no gap when one is cancelled`() async throws {
    let server = try ChunkServer()
    try await TestClient.with({ $0.limits.perHost = 64 }) { client in
      async let whole = client.send(.get(server.url("/slow/300k?rate=400k"))).body.drain()
      for _ in 0..<50 {
        var iterator = try await client.send(.get(server.url("/bytes/100m"))).body.makeAsyncIterator()
        _ = try await iterator.next()
      }
      #expect(try await whole == 300 << 10)
    }
    await server.stop()
  }
}
