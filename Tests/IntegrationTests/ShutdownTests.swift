import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ShutdownTests {
  @Test func `an immediate shutdown fails running and queued requests`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    var configuration = ClientConfiguration()
    configuration.limits.perHost = 20
    let client = Client(configuration: configuration)
    let calls = (0..<25).map { index in
      Task { await failure { try await client.send(.get(server.url("/\(index)"))) } }
    }
    try await server.waitForRequests(20)
    #expect(await eventually { client.gauges.waiting == 5 })
    await client.shutdown(.immediate)
    for call in calls { #expect(await call.value?.kind == .shutdown) }
    await client.shutdown(.immediate)
    await client.shutdown(.graceful)
    #expect(await failure { try await client.send(.get(server.url)) }?.kind == .shutdown)
    #expect(client.isIdle)
    #expect(server.requests.count == 20)
    await server.stop()
  }

  @Test func `an immediate shutdown fails a paused reader behind what it has`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "\(1 << 30)")]), .sendContent(count: 1 << 30),
    ])
    let client = Client()
    let response = try await client.send(.get(server.url))
    try await server.waitForSendBlocked()
    await client.shutdown(.immediate)
    let error = await failure { try await response.body.drain() }
    #expect(error?.kind == .shutdown)
    await server.stop()
  }

  @Test func `a graceful shutdown waits for what runs and for what is queued`() async throws {
    let server = try ScriptedServer(script: [
      .respondEach([.waitForSignal("go"), .response(body: "done")])
    ])
    var configuration = ClientConfiguration()
    configuration.limits.perHost = 1
    let client = Client(configuration: configuration)
    let calls = (0..<3).map { index in
      Task { try await client.text(.get(server.url("/\(index)"))) }
    }
    try await server.waitForRequests(1)
    #expect(await eventually { client.gauges.waiting == 2 })
    let ending = Task { await client.shutdown(.graceful) }
    var late = Request.get(server.url("/late"))
    late.timeouts = TimeLimits()
    late.timeouts?.admission = .milliseconds(20)
    // Until the shutdown has begun it waits for a place in vain.
    var kind: HTTPError.Kind?
    for _ in 0..<500 where kind != .shutdown { kind = await failure { try await client.send(late) }?.kind }
    #expect(kind == .shutdown)
    server.open("go")
    for call in calls { #expect(try await call.value == "done") }
    await ending.value
    #expect(server.requests.count == 3)
    await server.stop()
  }

  @Test func `a client that never sent anything shuts down`() async {
    let client = Client()
    await client.shutdown(.graceful)
    #expect(await failure { try await client.send(.get("http://127.0.0.1:1/")) }?.kind == .shutdown)
  }

  @Test func `shutdown works from a task on the loop itself`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let client = Client()
    try await client.onLoop {
      try await client.expect("ok", from: .get(server.url))
      await client.shutdown(.graceful)
    }
    await server.stop()
  }

  @Test func `requests that race with shutdown end one way or the other`() async throws {
    let server = try ChunkServer()
    for _ in 0..<20 {
      let client = Client()
      let calls = (0..<40).map { _ in
        Task { await failure { try await client.text(.get(server.url("/bytes/1000"))) } }
      }
      await Task.yield()
      await client.shutdown(.immediate)
      for call in calls {
        let error = await call.value
        #expect(error == nil || error?.kind == .shutdown)
      }
      #expect(client.isIdle)
    }
    await server.stop()
  }

  @Test(arguments: [Client.Shutdown.immediate, .graceful])
  func `a call that waits for its next attempt fails at once`(_ how: Client.Shutdown) async throws {
    let server = try ScriptedServer(script: .response(status: 503, fields: [("Retry-After", "50")]))
    var configuration = ClientConfiguration()
    configuration.retry = RetryPolicy(limit: 3)
    let client = Client(configuration: configuration)
    let calls = (0..<3).map { index in
      Task { await failure { try await client.send(.get(server.url("/\(index)"))) } }
    }
    let file = try TestFolder()
    let download = client.download(.get(server.url("/file")), to: .file(file.path + "/file"))
    let events = client.eventSource(
      .get(server.url("/events")),
      {
        var options = EventSourceOptions()
        options.retriedStatuses = [503]
        options.retriesFirstConnection = true
        return options
      }())
    let listening = Task { await failure { for try await _ in events {} } }
    // The second and third call may be held back by what the first was told.
    _ = await eventually { server.requests.count >= 3 && client.isIdle }
    await client.shutdown(how)
    for call in calls { #expect(await call.value?.kind == .shutdown) }
    #expect(await failure { try await download.value }?.kind == .shutdown)
    #expect(await listening.value?.kind == .shutdown)
    await server.stop()
  }

  @Test func `a paused download fails at once`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "\(1 << 30)"), ("ETag", "\"a\"")]),
      .sendContent(count: 1 << 30),
    ])
    let folder = try TestFolder()
    for keeps in [true, false] {
      let client = Client()
      let download = client.download(.get(server.url), to: .file(folder.path + "/\(keeps)"))
      for await event in download.events { if case .progress = event { break } }
      download.pause(keepingConnection: keeps)
      await client.shutdown(.immediate)
      #expect(await failure { try await download.value }?.kind == .shutdown)
    }
    await server.stop()
  }
}
