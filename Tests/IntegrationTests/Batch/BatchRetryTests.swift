import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct BatchRetryTests {
  private final class Counts: Sendable {
    private let state = Mutex<[String: Int]>([:])
    /// How often it was asked for, this time included.
    func add(_ name: String) -> Int {
      state.withLock {
        $0[name, default: 0] += 1
        return $0[name] ?? 0
      }
    }
  }

  private static func quick(_ limit: Int) -> RetryPolicy {
    var policy = RetryPolicy(limit: limit)
    policy.backoff.base = .milliseconds(1)
    return policy
  }

  private func all(_ batch: Batch<Request, BatchResponse>) async throws -> [BatchResult<
    Request, BatchResponse
  >] {
    var results: [BatchResult<Request, BatchResponse>] = []
    for try await result in batch { results.append(result) }
    return results.sorted { $0.index < $1.index }
  }

  @Test func `failed attempts are made again, and counted`() async throws {
    let counts = Counts()
    // A kept connection that is reset is no attempt's end: the request goes out again on a new one.
    let close = [("Connection", "close")]
    let server = try ScriptedServer(respond: { request in
      let count = counts.add(request.target)
      switch (request.target, count) {
      case ("/twice", ...2): return [.response(status: 503, fields: close, body: "later")]
      case ("/reset", 1): return [.reset]
      case ("/never", _): return [.response(status: 500, fields: close)]
      default: return [.response(fields: close, body: "ok")]
      }
    })
    try await TestClient.with { client in
      var options = BatchOptions()
      options.retry = Self.quick(3)
      options.requiresSuccess = true
      let inputs = ["/once", "/twice", "/reset", "/never"].map { Request.get(server.url($0)) }
      let results = try await all(client.batch(inputs, options: options))
      #expect(results.map(\.attempts) == [1, 3, 2, 4])
      #expect(results.map { $0.error?.kind } == [nil, nil, nil, .httpStatus])
      #expect(results[3].error?.attempts.count == 3)
      #expect(server.requests.count == 10)
    }
    await server.stop()
  }

  @Test func `a body that broke off is fetched again where bodies are collected`() async throws {
    let counts = Counts()
    let server = try ScriptedServer(respond: { request in
      counts.add(request.target) == 1
        ? [.head(fields: [("Content-Length", "100")]), .send("part"), .reset] : [.response(body: "whole")]
    })
    try await TestClient.with { client in
      var options = BatchOptions()
      options.retry = Self.quick(2)
      let collected = try await all(client.batch([Request.get(server.url("/a"))], options: options))
      #expect(try collected.first?.value.body == Array("whole".utf8))
      #expect(collected.first?.attempts == 2)
      // A closure of the caller's may have kept what came.
      let batch = client.batch([Request.get(server.url("/b"))], options: options) { response in
        try await response.body.collect(upTo: .kibibytes(1))
      }
      for try await result in batch {
        #expect(result.error != nil)
        #expect(result.attempts == 1)
      }
    }
    await server.stop()
  }

  @Test func `an input that waits for its next attempt gives its place to others`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/0"
        ? [.response(status: 503, fields: [("Retry-After", "60")])] : [.response(body: "ok")]
    })
    let other = try ScriptedServer(respond: { _ in [.response(body: "ok")] })
    try await TestClient.with { client in
      var options = BatchOptions()
      options.retry = Self.quick(1)
      let inputs = [Request.get(server.url("/0"))] + (1..<20).map { Request.get(other.url("/\($0)")) }
      let batch = client.batch(inputs, limits: .init(total: 1), options: options)
      var iterator = batch.makeAsyncIterator()
      for _ in 0..<19 {
        let result = try await iterator.next()
        #expect(result?.error == nil)
      }
      #expect(batch.status.queued == 1)
      batch.drain()
      let last = try await iterator.next()
      #expect(last?.error?.kind == .cancelled)
      #expect(last?.attempts == 1)
      let end = try await iterator.next()
      #expect(end == nil)
    }
    await server.stop()
    await other.stop()
  }

  @Test func `a client with robots as a middleware asks no forbidden path`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/robots.txt"
        ? [.response(body: "User-agent: *\nDisallow: /no")] : [.response(body: "ok")]
    })
    try await TestClient.with({ $0.middlewares = [RobotsMiddleware(RobotsPolicy(agent: "tester"))] }) {
      client in
      try await client.expect("ok", from: .get(server.url("/yes")))
      let error = await #expect(throws: HTTPError.self) { try await client.send(.get(server.url("/no"))) }
      #expect(error?.kind == .robotsDisallowed)
      #expect(server.requests.map(\.target) == ["/robots.txt", "/yes"])
    }
    await server.stop()
  }
}
