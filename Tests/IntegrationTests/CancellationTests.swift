import Foundation
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// Cancelling a task in every phase of an exchange: the server sees the close within 100 ms (a second here, for
/// loaded machines), and the call throws `cancelled`.
@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
  private static let limit = Duration.seconds(1)

  private func cancel(
    _ server: ScriptedServer, _ request: Request, when ready: (ScriptedServer) async throws -> Void
  ) async throws {
    try await TestClient.with({ $0.tls.verifiesTrust = false }) { client in
      let call = Task { try await client.send(request).body.drain() }
      try await ready(server)
      let cancelled = ContinuousClock.now
      call.cancel()
      let error = await failure { try await call.value }
      #expect(error?.kind == .cancelled)
      let seen = try await server.waitForPeerClose()
      #expect(seen - cancelled < Self.limit, "seen after \(seen - cancelled)")
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `while the TLS handshake waits for a peer that never answers`() async throws {
    let server = try ScriptedServer(script: [.stall])
    let url = "https://127.0.0.1:\(server.port)/"
    try await cancel(server, .get(url)) { try await $0.waitForConnections(1) }
  }

  @Test func `while a silent peer owes the head`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await cancel(server, .get(server.url)) { try await $0.waitForRequests(1) }
  }

  @Test func `while an upload stalls since the peer reads nothing`() async throws {
    let server = try ScriptedServer(
      script: [.expectHead, .stall], options: ServerOptions(receiveBufferSize: 16 << 10))
    let body = RequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
    try await cancel(server, .put(server.url, body: body)) { try await $0.waitForHeads(1) }
  }

  @Test func `while an upload waits for its own source`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    let (never, sink) = AsyncStream.makeStream(of: [UInt8].self)
    sink.yield([1, 2, 3])
    try await cancel(server, .put(server.url, body: .stream(never))) {
      try await $0.waitForBytesReceived(100)
    }
    sink.finish()
  }

  @Test func `while the body flows`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]),
      .sendForever([UInt8](repeating: 120, count: 16384), chunked: true),
    ])
    try await cancel(server, .get(server.url)) { server in
      _ = await eventually { server.bytesSent() > 4 << 20 }
    }
  }

  @Test func `while the peer is silent in the body`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "10")]), .send("hello"), .stall,
    ])
    try await cancel(server, .get(server.url)) { server in
      _ = await eventually { server.bytesSent() > 40 }
    }
  }

  @Test func `while the reader is paused`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "\(1 << 30)")]), .sendContent(count: 1 << 30),
    ])
    try await TestClient.with { client in
      let reader = Task {
        for try await _ in try await client.send(.get(server.url)).body {
          // A pause that only the cancellation ends.
          try await Task.sleep(for: .seconds(3600))
        }
      }
      try await server.waitForSendBlocked()
      let cancelled = ContinuousClock.now
      reader.cancel()
      let seen = try await server.waitForPeerClose()
      #expect(seen - cancelled < Self.limit, "seen after \(seen - cancelled)")
    }
    await server.stop()
  }

  @Test func `while connecting to a listener that accepts nobody`() async throws {
    let listener = try FullListener()
    try await TestClient.with { client in
      let call = Task { try await client.send(.get(listener.url)) }
      #expect(await eventually { client.gauges.running == 1 })
      call.cancel()
      let error = await failure { try await call.value }
      #expect(error?.kind == .cancelled)
      #expect(await eventually { client.gauges.running == 0 })
    }
  }

  @Test func `while waiting for admission`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with({ $0.limits.total = 1 }) { client in
      let first = Task { try await client.send(.get(server.url("/1"))) }
      try await server.waitForRequests(1)
      let second = Task { try await client.send(.get(server.url("/2"))) }
      #expect(await eventually { client.gauges.waiting == 1 })
      second.cancel()
      let error = await failure { try await second.value }
      #expect(error?.kind == .cancelled)
      #expect(await eventually { client.gauges.waiting == 0 })
      first.cancel()
      _ = await first.result
      #expect(server.requests.map(\.target) == ["/1"])
    }
    await server.stop()
  }

  @Test func `before the call begins nothing is sent`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      let call = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await client.send(.get(server.url))
      }
      let error = await failure { try await call.value }
      #expect(error?.kind == .cancelled)
      #expect(server.connectionCount == 0)
    }
    await server.stop()
  }

  @Test func `a recycled handle carries nothing over from a cancelled, paused exchange`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/big"
        ? [.head(fields: [("Content-Length", "\(64 << 20)")]), .sendContent(count: 64 << 20)]
        : [.response(body: "small")]
    })
    try await TestClient.with { client in
      for _ in 0..<20 {
        let response = try await client.send(.get(server.url("/big")))
        // A plain body is held one receive before its high mark, and that is 512 KiB at most.
        #expect(await eventually { client.gauges.bufferedBytes >= (1 << 20) - (512 << 10) })
        response.cancel()
        try await client.expect("small", from: .get(server.url("/small")))
        let put = Request.put(server.url("/put"), body: .string("abc"))
        try await client.expect("small", from: put)
      }
    }
    await server.stop()
  }

  @Test(
    "while a proxy owes its answer to CONNECT, and in the handshake through its tunnel, in either order of the end",
    arguments: [
      [.expectHead, .stall], [.expectHead, .send("HTTP/1.1 200 Connection established\r\n\r\n"), .stall],
    ] as [Script], [true, false])
  func in_tunnel(script: Script, cancelsFirst: Bool) async throws {
    let server = try ScriptedServer(script: script)
    let proxy = ProxyServer(host: "127.0.0.1", port: server.port)
    var configuration = ClientConfiguration()
    configuration.proxy = .through(proxy)
    // HTTP/2 would let one go first.
    configuration.version = .http1_1
    let client = Client(configuration: configuration)
    let calls = (0..<8).map { _ in Task { try await client.send(.get("https://origin.test/")) } }
    try await server.waitForHeads(8)
    if cancelsFirst { for call in calls { call.cancel() } }
    await client.shutdown(.immediate)
    for call in calls {
      let kind = await failure { try await call.value }?.kind
      #expect(kind == .cancelled || kind == .shutdown)
    }
    for index in 0..<8 { _ = try await server.waitForPeerClose(connection: index) }
    #expect(client.isIdle)
    await server.stop()
  }
}
