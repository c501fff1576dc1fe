import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct MergedEventsTests {
  private static let type = [("Content-Type", "text/event-stream")]

  private func sources(
    _ client: Client, _ server: ScriptedServer, _ count: Int,
    _ edit: (inout EventSourceOptions) -> Void = { _ in }
  ) -> [EventSource] {
    var options = EventSourceOptions()
    options.reconnects = false
    options.reconnectionTime = .zero
    edit(&options)
    return (0..<count).map { client.eventSource(.get(server.url("/\($0)")), options) }
  }

  @Test func `two hundred open streams are one loop, each event with its source, none lost`() async throws {
    let count = 200
    let server = try ScriptedServer { request in
      let name = request.target.dropFirst()
      return [
        .head(fields: Self.type), .send("data: \(name) 0\n\n"), .waitForSignal("go"),
        .send("data: \(name) 1\n\ndata: \(name) 2\n\n"), .waitForSignal("end"), .closeAtOnce,
      ]
    }
    try await TestClient.with({ $0.limits.perHost = 1000 }) { client in
      var seen = Array(repeating: [String](), count: count)
      var ended = 0
      var total = 0
      for try await item in client.merge(sources(client, server, count)) {
        guard let event = item.element else {
          ended += 1
          continue
        }
        seen[item.source].append(event.data)
        total += 1
        // All are open at once, and go on when the last of them has come.
        if total == count { server.open("go") }
        if total == 3 * count { server.open("end") }
      }
      #expect(ended == count)
      for (source, data) in seen.enumerated() { #expect(data == (0..<3).map { "\(source) \($0)" }) }
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `a source connects again on its own, and a refused one is its end alone`() async throws {
    let server = try ScriptedServer { request in
      if request.target == "/1" { return [.response(status: 404, body: "no")] }
      if request.value(of: "Last-Event-ID") == "7" { return [.response(status: 204)] }
      return [.head(fields: Self.type), .send("id: 7\ndata: \(request.target)\n\n"), .close]
    }
    try await TestClient.with { client in
      var data: [String] = []
      var ends: [Int: HTTPError.Kind?] = [:]
      for try await item in client.merge(sources(client, server, 3) { $0.reconnects = true }) {
        switch item.content {
        case .element(let event): data.append(event.data)
        case .ended(let failure): ends[item.source] = .some(failure?.kind)
        }
      }
      #expect(data.sorted() == ["/0", "/2"])
      #expect(ends == [0: nil, 1: .httpStatus, 2: nil])
    }
    await server.stop()
  }

  @Test func `leaving the loop ends all streams`() async throws {
    let server = try ScriptedServer { _ in
      [.head(fields: Self.type), .send("data: a\n\n"), .readUntilClose]
    }
    try await TestClient.with { client in
      var count = 0
      for try await item in client.merge(sources(client, server, 20)) where item.element != nil {
        count += 1
        if count == 20 { break }
      }
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `cancelling the loop ends all streams`() async throws {
    let server = try ScriptedServer { _ in
      [.head(fields: Self.type), .send("data: a\n\n"), .readUntilClose]
    }
    try await TestClient.with { client in
      let sources = sources(client, server, 10)
      let (open, tell) = AsyncStream<Void>.makeStream()
      let task = Task {
        await failure {
          for try await item in client.merge(sources) where item.element != nil { tell.yield() }
        }
      }
      var news = open.makeAsyncIterator()
      for _ in 0..<10 { await news.next() }
      task.cancel()
      #expect(await task.value?.kind == .cancelled)
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `coded streams are merged too, and a source that was read before is at its end`() async throws {
    // gzip of "data: x\n\n", stored.
    let coded: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x01, 9, 0, 0xF6, 0xFF]
    let text = Array("data: x\n\n".utf8)
    let server = try ScriptedServer { _ in
      [.response(fields: Self.type + [("Content-Encoding", "gzip")], bytes: coded + text)]
    }
    try await TestClient.with { client in
      let sources = sources(client, server, 2)
      _ = sources[1].makeAsyncIterator()
      var data: [String] = []
      var kinds: [Int: HTTPError.Kind?] = [:]
      for try await item in client.merge(sources) {
        switch item.content {
        case .element(let event): data.append(event.data)
        case .ended(let failure): kinds[item.source] = .some(failure?.kind)
        }
      }
      #expect(data == ["x"])
      // The gzip file has no trailer.
      #expect(kinds == [0: .truncated, 1: .alreadyConsumed])
    }
    await server.stop()
  }
}
