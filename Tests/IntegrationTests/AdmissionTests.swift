import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct AdmissionTests {
  /// Counts requests that a server works on at the same time.
  private final class Load: Sendable {
    private let state = Mutex((now: 0, most: 0))
    func begin() {
      state.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
    }
    func end() { state.withLock { $0.now -= 1 } }
    var most: Int { state.withLock { $0.most } }
  }

  private func busy(_ loads: [Load]) throws -> ScriptedServer {
    try ScriptedServer(respond: { _ in
      [
        .run { _ in for load in loads { load.begin() } }, .wait(.milliseconds(3)),
        .run { _ in for load in loads { load.end() } }, .response(body: "ok"),
      ]
    })
  }

  @Test func `limits per host and in all hold as the servers see it`() async throws {
    let all = Load()
    let loads = (0..<3).map { _ in Load() }
    let servers = try loads.map { try busy([$0, all]) }
    try await TestClient.with({
      $0.limits.perHost = 4
      $0.limits.total = 7
      $0.loops = 2
    }) { client in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<150 {
          let url = servers[index % 3].url
          group.addTask { try await client.expect("ok", from: .get(url)) }
        }
        try await group.waitForAll()
      }
    }
    for (server, load) in zip(servers, loads) {
      #expect(load.most <= 4)
      #expect(load.most >= 2)
      #expect(server.requests.count == 50)
      #expect(server.connectionCount <= 8)
      await server.stop()
    }
    #expect(all.most <= 7)
  }

  @Test func `long-lived streams don't starve calls`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/stream"
        ? [.head(fields: [("Transfer-Encoding", "chunked")]), .chunk("hello"), .stall]
        : [.response(body: "ok")]
    })
    try await TestClient.with({
      $0.limits.perHost = 2
      $0.limits.total = 2
    }) { client in
      var streams: [Response] = []
      for _ in 0..<10 {
        var request = Request.get(server.url("/stream"))
        request.isLongLived = true
        streams.append(try await client.send(request))
      }
      #expect(client.gauges.longLived == 10)
      for _ in 0..<5 { try await client.expect("ok", from: .get(server.url("/call"))) }
      for stream in streams { stream.cancel() }
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `a larger priority goes first`() async throws {
    let server = try ScriptedServer(script: [.respondEach([.waitForSignal("go"), .response(body: "ok")])])
    try await TestClient.with({ $0.limits.perHost = 1 }) { client in
      let first = Task { try await client.text(.get(server.url("/first"))) }
      try await server.waitForRequests(1)
      var calls: [Task<String, any Error>] = []
      for (index, priority) in [0, 5, 1].enumerated() {
        var request = Request.get(server.url("/\(priority)"))
        request.priority = priority
        calls.append(Task { [request] in try await client.text(request) })
        #expect(await eventually { client.gauges.waiting == index + 1 })
      }
      server.open("go")
      _ = try await first.value
      for call in calls { _ = try await call.value }
      #expect(server.requests.map(\.target) == ["/first", "/5", "/1", "/0"])
    }
    await server.stop()
  }
}
