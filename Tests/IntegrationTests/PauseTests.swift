import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct PauseTests {
  @Test(
    "bytes that wait inside TLS arrive after each pause",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func bytes_inside_tls() async throws {
    try await TLSScript.with("burst") { server in
      try await TestClient.trusting({ $0.watermark = Watermark(low: 0, high: 1) }) { client in
        var count = 0
        for try await chunk in try await client.send(.get(server.url)).body {
          count += chunk.count
          if count < 200_000 { await Task.yield() }
        }
        #expect(count == 1 << 20)
      }
    }
  }

  @Test(
    "a held stream of HTTP/2 keeps its sibling running and is whole in the end",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func held_http2_stream() async throws {
    try await NginxServer.with(files: ["big": 40 << 20]) { server in
      try await TestClient.trusting { client in
        let held = try await client.send(.get(server.http2("/big")))
        #expect(held.version == .http2)
        var iterator = held.body.makeAsyncIterator()
        var count = try await iterator.next()?.count ?? 0
        #expect(try await client.send(.get(server.http2("/big"))).body.drain() == 40 << 20)
        // Held in our own buffer: never more than one watermark. libcurl may hold 32 MiB more (INTERNALS).
        #expect(client.gauges.bufferedBytes <= 2 << 20)
        while let chunk = try await iterator.next() { count += chunk.count }
        #expect(count == 40 << 20)
      }
    }
  }

  @Test func `a reader's own pause is no idle time of the peer`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "2000010")]), .sendContent(count: 2_000_000),
      .waitForSignal("resumed"), .wait(.milliseconds(400)), .send("0123456789"),
    ])
    try await TestClient.with({ $0.timeouts.idle = .seconds(3) }) { client in
      let response = try await client.send(.get(server.url))
      var iterator = response.body.makeAsyncIterator()
      var count = try await iterator.next()?.count ?? 0
      // Time itself: longer than the limit, with the stream held all the while.
      try await Task.sleep(for: .milliseconds(3500))
      while count < 2_000_000, let chunk = try await iterator.next() { count += chunk.count }
      server.signal("resumed")
      while let chunk = try await iterator.next() { count += chunk.count }
      #expect(count == 2_000_010)
    }
    await server.stop()
  }

  @Test func `time that the stream was held without being paused isn't counted when it goes on`() async throws
  {
    // The mark is reached exactly by the last bytes, so libcurl offers none that would be refused.
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789"),
      .waitForSignal("resumed"), .wait(.milliseconds(300)), .send("0123456789"),
    ])
    try await TestClient.with({
      $0.timeouts.idle = .seconds(1)
      $0.watermark = Watermark(low: 0, high: 10)
    }) { client in
      let response = try await client.send(.get(server.url))
      // Time itself: most of the limit. With what follows it would be over it, were it counted.
      try await Task.sleep(for: .milliseconds(900))
      var iterator = response.body.makeAsyncIterator()
      var count = try await iterator.next()?.count ?? 0
      server.signal("resumed")
      while let chunk = try await iterator.next() { count += chunk.count }
      #expect(count == 20)
    }
    await server.stop()
  }
}
