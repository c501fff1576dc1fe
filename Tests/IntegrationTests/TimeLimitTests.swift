import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// Each limit of time has an error of its own, and none of them fires for another's reason.
@Suite(.timeLimit(.minutes(1))) struct TimeLimitTests {
  /// By then a limit that is only looked at with the next one would not have fired yet.
  private static let late = Duration.seconds(40)

  private func limited(
    _ url: String, _ edit: (inout TimeLimits) -> Void, _ check: (HTTPError?, Duration) -> Void
  ) async throws {
    try await TestClient.with({
      $0.timeouts.connect = .seconds(50)
      edit(&$0.timeouts)
    }) { client in
      let begin = ContinuousClock.now
      let error = await failure { try await client.send(.get(url)).body.drain() }
      check(error, ContinuousClock.now - begin)
      #expect(await eventually { client.isIdle })
    }
  }

  @Test func `connect`() async throws {
    let listener = try FullListener()
    try await limited(listener.url, { $0.connect = .milliseconds(300) }) { error, time in
      #expect(error?.kind == .connectTimeout)
      #expect(error?.phase == .connect)
      #expect(time < Self.late)
    }
  }

  @Test func `connect covers a TLS handshake that is never answered`() async throws {
    let server = try ScriptedServer(script: [.stall])
    let url = "https://127.0.0.1:\(server.port)/"
    try await limited(url, { $0.connect = .milliseconds(300) }) { error, time in
      #expect(error?.kind == .connectTimeout)
      #expect(time < Self.late)
    }
    await server.stop()
  }

  @Test func `first byte, though it is shorter than the connect limit`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await limited(server.url, { $0.firstByte = .milliseconds(300) }) { error, time in
      #expect(error?.kind == .firstByteTimeout)
      #expect(error?.phase == .head)
      #expect(time < Self.late)
    }
    await server.stop()
  }

  @Test func `first byte after an upload of known length`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with({ $0.timeouts.firstByte = .milliseconds(300) }) { client in
      let error = await failure { try await client.send(.put(server.url, body: .string("abc"))) }
      #expect(error?.kind == .firstByteTimeout)
    }
    await server.stop()
  }

  @Test func `idle, though it is shorter than the connect limit`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "10")]), .send("hello"), .stall,
    ])
    try await limited(server.url, { $0.idle = .milliseconds(300) }) { error, time in
      #expect(error?.kind == .idleTimeout)
      #expect(error?.received == 5)
      #expect(error?.phase == .body)
      #expect(time < Self.late)
    }
    await server.stop()
  }

  @Test func `idle in an upload that the peer doesn't read`() async throws {
    let server = try ScriptedServer(
      script: [.expectHead, .stall], options: ServerOptions(receiveBufferSize: 16 << 10))
    try await TestClient.with({ $0.timeouts.idle = .milliseconds(500) }) { client in
      let body = RequestBody.bytes([UInt8](repeating: 1, count: 64 << 20))
      let error = await failure { try await client.send(.put(server.url, body: body)) }
      #expect(error?.kind == .idleTimeout)
      #expect(error?.phase == .request)
    }
    await server.stop()
  }

  @Test func `a slow, healthy body passes an idle limit that is shorter than the whole`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "15")]),
      .drip([UInt8](repeating: 120, count: 15), size: 1, every: .milliseconds(150)),
    ])
    try await limited(server.url, { $0.idle = .seconds(1) }) { error, _ in #expect(error == nil) }
    await server.stop()
  }

  @Test func `a slow feeder isn't the peer's idle time`() async throws {
    // The answer begins before the upload has ended.
    let server = try ScriptedServer(script: [
      .expectHead, .head(fields: [("Content-Length", "2")]), .expectBody, .send("ok"),
    ])
    try await TestClient.with({ $0.timeouts.idle = .milliseconds(600) }) { client in
      let (stream, sink) = AsyncStream.makeStream(of: [UInt8].self)
      sink.yield([1])
      let call = Task { try await client.text(.put(server.url, body: .stream(stream))) }
      try await server.waitForHeads(1)
      // Time itself: longer than the limit, with nothing sent.
      try await Task.sleep(for: .milliseconds(1500))
      sink.yield([2])
      sink.finish()
      let text = try await call.value
      #expect(text == "ok")
    }
    await server.stop()
  }

  @Test func `total`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]),
      .repeatSteps(times: nil, [.chunk("hello"), .wait(.milliseconds(20))]),
    ])
    try await limited(server.url, { $0.total = .milliseconds(400) }) { error, time in
      #expect(error?.kind == .totalTimeout)
      #expect(time < Self.late)
    }
    await server.stop()
  }

  @Test func `admission, and it says so`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with({
      $0.limits.perHost = 1
      $0.timeouts.admission = .milliseconds(300)
    }) { client in
      let first = Task { try await client.send(.get(server.url("/1"))) }
      try await server.waitForRequests(1)
      let error = await failure { try await client.send(.get(server.url("/2"))) }
      #expect(error?.kind == .admissionTimeout)
      #expect(error?.phase == .queue)
      #expect(error?.message.contains("place") == true)
      #expect(error?.mayHaveBeenProcessed == false)
      #expect(server.requests.count == 1)
      first.cancel()
      _ = await first.result
    }
    await server.stop()
  }

  @Test func `no limits at all, and still queued calls end with a graceful shutdown`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    var configuration = ClientConfiguration()
    configuration.limits.perHost = 1
    configuration.timeouts.admission = nil
    configuration.timeouts.connect = nil
    configuration.timeouts.firstByte = nil
    configuration.timeouts.idle = nil
    let client = Client(configuration: configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 {
        group.addTask { try await client.expect("ok", from: .get("http://localhost:\(server.port)/")) }
      }
      try await group.waitForAll()
    }
    await client.shutdown(.graceful)
    #expect(client.isIdle)
    await server.stop()
  }
}
