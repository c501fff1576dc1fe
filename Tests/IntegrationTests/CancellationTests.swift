import Foundation
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// Cancelling a task in every phase of an exchange: the server sees the close within 100 ms (a quarter of a second here),
/// and the call throws `cancelled`.
@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
  private static let limit = Duration.milliseconds(250)

  /// Tries it until the server sees the close within the limit, ten times at most: a busy machine makes a try longer, never
  /// shorter.
  private func soon(_ attempt: () async throws -> Duration) async throws {
    var times: [Duration] = []
    while times.count < 10 {
      times.append(try await attempt())
      if times.last.map({ $0 < Self.limit }) ?? false { return }
    }
    Issue.record("seen after \(times)")
  }

  private func cancel(
    in phases: Set<HTTPError.Phase>, _ script: Script, options: ServerOptions = ServerOptions(),
    _ request: (ScriptedServer) -> Request = { .get($0.url) },
    when ready: (ScriptedServer) async throws -> Void
  ) async throws {
    try await soon {
      let server = try ScriptedServer(script: script, options: options)
      let time = try await TestClient.with({ $0.tls.verifiesTrust = false }) { client in
        let request = request(server)
        let call = Task { try await client.send(request).body.drain() }
        try await ready(server)
        let cancelled = ContinuousClock.now
        call.cancel()
        let error = await failure { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(error.map { phases.contains($0.phase) } == true, "\(String(describing: error?.phase))")
        let seen = try await server.waitForPeerClose()
        #expect(await eventually { client.isIdle })
        return seen - cancelled
      }
      await server.stop()
      return time
    }
  }

  @Test func `while the TLS handshake waits for a peer that never answers`() async throws {
    try await cancel(in: [.connect], [.stall]) {
      .get("https://127.0.0.1:\($0.port)/")
    } when: {
      try await $0.waitForConnections(1)
    }
  }

  @Test func `while a silent peer owes the head`() async throws {
    try await cancel(in: [.head], [.expectRequest, .stall]) { try await $0.waitForRequests(1) }
  }

  @Test func `while an upload stalls since the peer reads nothing`() async throws {
    let body = RequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
    try await cancel(
      in: [.request], [.expectHead, .stall], options: ServerOptions(receiveBufferSize: 16 << 10)
    ) {
      .put($0.url, body: body)
    } when: {
      try await $0.waitForHeads(1)
    }
  }

  @Test func `while an upload waits for its own source`() async throws {
    var sinks: [AsyncStream<[UInt8]>.Continuation] = []
    try await cancel(in: [.request], [.expectRequest, .stall]) { server in
      let (never, sink) = AsyncStream.makeStream(of: [UInt8].self)
      sink.yield([1, 2, 3])
      sinks.append(sink)
      return .put(server.url, body: .stream(never))
    } when: {
      try await $0.waitForBytesReceived(100)
    }
    for sink in sinks { sink.finish() }
  }

  @Test func `while the body flows`() async throws {
    try await cancel(
      in: [.head, .body],
      [
        .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]),
        .sendForever([UInt8](repeating: 120, count: 16384), chunked: true),
      ]
    ) { server in
      _ = await eventually { server.bytesSent() > 4 << 20 }
    }
  }

  @Test func `while the peer is silent in the body`() async throws {
    try await cancel(
      in: [.head, .body],
      [
        .expectRequest, .head(fields: [("Content-Length", "10")]), .send("hello"), .stall,
      ]
    ) { server in
      _ = await eventually { server.bytesSent() > 40 }
    }
  }

  @Test func `while the reader is paused`() async throws {
    try await soon {
      let server = try ScriptedServer(script: [
        .expectRequest, .head(fields: [("Content-Length", "\(1 << 30)")]), .sendContent(count: 1 << 30),
      ])
      let time = try await TestClient.with { client in
        let reader = Task {
          for try await _ in try await client.send(.get(server.url)).body {
            // A pause that only the cancellation ends.
            try await Task.sleep(for: .seconds(3600))
          }
        }
        try await server.waitForSendBlocked()
        let cancelled = ContinuousClock.now
        reader.cancel()
        return try await server.waitForPeerClose() - cancelled
      }
      await server.stop()
      return time
    }
  }

  @Test func `while connecting to a listener that accepts nobody`() async throws {
    let listener = try FullListener()
    try await TestClient.with({ $0.loops = 1 }) { client in
      let call = Task { try await client.send(.get(listener.url)) }
      #expect(await eventually { client.gauges.running == 1 })
      // Behind the call in the loop's line.
      try await client.onLoop {}
      call.cancel()
      let error = await failure { try await call.value }
      #expect(error?.kind == .cancelled)
      #expect(error?.phase == .connect)
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
      #expect(error?.phase == .queue)
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
