import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct EventSourceTests {
  private static let type = [("Content-Type", "text/event-stream")]

  /// A stream that ends with its connection.
  private static func stream(_ text: String) -> Script {
    [.expectRequest, .head(fields: type), .send(text)]
  }

  private func read(
    _ server: ScriptedServer, _ edit: (inout EventSourceOptions) -> Void = { _ in }, most: Int = .max
  ) async throws -> ([String], HTTPError?) {
    var options = EventSourceOptions()
    options.reconnectionTime = .zero
    edit(&options)
    return try await TestClient.with { client in
      var seen: [String] = []
      let error = await failure {
        for try await event in client.eventSource(.get(server.url("/events")), options) {
          seen.append("\(event.type) \(event.data) \(event.id)")
          if seen.count == most { break }
        }
      }
      return (seen, error)
    }
  }

  @Test func `it connects again with the last ID, and 204 ends it`() async throws {
    let server = try ScriptedServer(scripts: [
      Self.stream("id: 7\ndata: a\n\n: note\nid: 8\n\ndata: lost"), Self.stream("event: x\ndata: b\n\n"),
      .response(status: 204),
    ])
    let (seen, error) = try await read(server)
    #expect(error == nil)
    #expect(seen == ["message a 7", "x b 8"])
    let ids = server.requests.map { $0.value(of: "Last-Event-ID") }
    #expect(ids == [nil, "8", "8"])
    #expect(server.requests.first?.value(of: "Accept") == "text/event-stream")
    #expect(server.requests.first?.value(of: "Cache-Control") == "no-store")
    await server.stop()
  }

  @Test func `an ID from an earlier run is sent with the first request`() async throws {
    let server = try ScriptedServer(script: .response(status: 204))
    _ = try await read(server) { $0.lastEventID = "41" }
    #expect(server.requests.first?.value(of: "Last-Event-ID") == "41")
    await server.stop()
  }

  @Test func `a broken stream is a reason to connect again`() async throws {
    let server = try ScriptedServer(scripts: [
      [
        .expectRequest, .head(fields: Self.type + [("Content-Length", "1000")]), .send("data: a\n\n"), .close,
      ],
      [.expectRequest, .head(fields: Self.type), .send("data: b\n\n"), .reset],
      [.expectRequest, .closeAtOnce], .response(status: 204),
    ])
    let (seen, error) = try await read(server)
    #expect(error == nil)
    #expect(seen.first == "message a ")
    #expect(server.requests.count == 4)
    await server.stop()
  }

  @Test func `without reconnecting a clean end is the end and a cut one an error`() async throws {
    let clean = try ScriptedServer(script: Self.stream("data: a\n\n"))
    let (seen, error) = try await read(clean) { $0.reconnects = false }
    #expect(seen == ["message a "])
    #expect(error == nil)
    #expect(clean.requests.count == 1)
    await clean.stop()
    let cut = try ScriptedServer(script: [
      .expectRequest, .head(fields: Self.type + [("Content-Length", "99")]), .send("data: a\n\n"),
    ])
    #expect(try await read(cut) { $0.reconnects = false }.1?.kind == .truncated)
    await cut.stop()
  }

  @Test func `another status and another type are errors that name the URL`() async throws {
    let missing = try ScriptedServer(script: .response(status: 404, body: "no"))
    let status = try await read(missing).1
    #expect(status?.kind == .httpStatus)
    #expect(status?.status == 404)
    #expect(status?.url?.hasSuffix("/events") == true)
    await missing.stop()
    let page = try ScriptedServer(script: .response(fields: [("Content-Type", "text/html")], body: "no"))
    #expect(try await read(page).1?.kind == .contentType)
    await page.stop()
  }

  @Test func `redirects are followed anew with each connection`() async throws {
    let target = try ScriptedServer(script: Self.stream("data: a\n\n"))
    let first = try ScriptedServer(script: .response(status: 301, fields: [("Location", target.url("/t"))]))
    let (seen, _) = try await read(first, most: 2)
    #expect(seen == ["message a ", "message a "])
    #expect(first.requests.count == 2)
    await first.stop()
    await target.stop()
  }

  @Test func `the server's time and the waits are told`() async throws {
    let server = try ScriptedServer(scripts: [Self.stream("retry: 5\ndata: a\n\n"), .response(status: 204)])
    let changes = Mutex<[String]>([])
    _ = try await read(server) { options in
      options.reconnectionTime = .seconds(600)
      options.onChange = { change in
        changes.withLock { changes in
          switch change {
          case .connecting(let attempt, _): changes.append("connecting \(attempt)")
          case .open(let head, _): changes.append("open \(head.status)")
          case .waiting(let delay, let error):
            changes.append("waiting \(delay < .seconds(1)) \(error == nil)")
          }
        }
      }
    }
    #expect(changes.withLock { $0 } == ["connecting 1", "open 200", "waiting true true", "connecting 2"])
    await server.stop()
  }

  @Test func `leaving the loop ends the exchange, and a second iteration sends nothing`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: Self.type), .send("data: a\n\n"), .readUntilClose,
    ])
    try await TestClient.with { client in
      let source = client.eventSource(.get(server.url))
      for try await _ in source { break }
      #expect(await eventually { client.isIdle })
      #expect(await failure { for try await _ in source {} }?.kind == .alreadyConsumed)
    }
    #expect(server.requests.count == 1)
    await server.stop()
  }

  @Test func `cancelling ends a wait for the next connection`() async throws {
    let server = try ScriptedServer(script: Self.stream("retry: 600000\ndata: a\n\n"))
    try await TestClient.with { client in
      let (waiting, tell) = AsyncStream<Void>.makeStream()
      var options = EventSourceOptions()
      options.maximumDelay = .seconds(600)
      options.onChange = { if case .waiting = $0 { tell.yield() } }
      let source = client.eventSource(.get(server.url), options)
      let task = Task { await failure { for try await _ in source {} } }
      var news = waiting.makeAsyncIterator()
      await news.next()
      task.cancel()
      #expect(await task.value?.kind == .cancelled)
    }
    await server.stop()
  }

  @Test func `the total limit spans connections and waits`() async throws {
    let server = try ScriptedServer(script: Self.stream("retry: 600000\ndata: a\n\n"))
    try await TestClient.with({ $0.timeouts.total = .seconds(2) }) { client in
      var options = EventSourceOptions()
      options.maximumDelay = .seconds(600)
      let error = await failure { for try await _ in client.eventSource(.get(server.url), options) {} }
      #expect(error?.kind == .totalTimeout)
    }
    await server.stop()
  }

  @Test func `limits on an event and on a connection hold`() async throws {
    let server = try ScriptedServer(script: Self.stream("data: 12345\n\n"))
    #expect(try await read(server) { $0.eventLimit = .bytes(4) }.1?.kind == .lineTooLong)
    #expect(try await read(server) { $0.bodyLimit = .bytes(10) }.1?.kind == .bodyTooLarge)
    await server.stop()
  }
}
