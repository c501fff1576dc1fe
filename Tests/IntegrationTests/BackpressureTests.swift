import Foundation
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BackpressureTests {
  @Test func `a stalled reader blocks the server's send and holds no more than the watermark`() async throws {
    let server = try ScriptedServer(
      script: [
        .expectRequest, .head(fields: [("Content-Length", "\(1 << 30)")]), .sendContent(count: 1 << 30),
      ], options: ServerOptions(sendBufferSize: 64 << 10))
    try await TestClient.with { client in
      let response = try await client.send(.get(server.url))
      var iterator = response.body.makeAsyncIterator()
      _ = try await iterator.next()
      let record = try await server.waitForSendBlocked()
      #expect(record.bytesSent < 16 << 20)
      // One write of libcurl above the high watermark at most.
      #expect(client.gauges.bufferedBytes <= (1 << 20) + (512 << 10))
      // It goes on where it stopped.
      var count: Int64 = 0
      while count < 64 << 20, let chunk = try await iterator.next() { count += Int64(chunk.count) }
      #expect(count >= 64 << 20)
    }
    await server.stop()
  }

  @Test func `a budget for all streams holds them early`() async throws {
    let server = try ScriptedServer(
      script: [
        .expectRequest, .head(fields: [("Content-Length", "\(1 << 30)")]), .sendContent(count: 1 << 30),
      ])
    try await TestClient.with({ $0.memoryBudget = .mebibytes(2) }) { client in
      var responses: [Response] = []
      for _ in 0..<12 { responses.append(try await client.send(.get(server.url))) }
      for index in 0..<12 { try await server.waitForSendBlocked(connection: index) }
      // Each stream may hold its low mark and one write of libcurl when the budget is used up.
      #expect(client.gauges.bufferedBytes <= (2 << 20) + 12 * ((256 << 10) + (512 << 10)))
      for response in responses { response.cancel() }
      #expect(await eventually { client.gauges.bufferedBytes == 0 })
    }
    await server.stop()
  }

  @Test func `two hundred readers with random stalls get every byte`() async throws {
    let server = try ChunkServer()
    try await TestClient.with({
      $0.limits.perHost = 200
      $0.watermark = Watermark(low: 16 << 10, high: 64 << 10)
      $0.loops = 2
    }) { client in
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<200 {
          group.addTask {
            var offset: Int64 = 0
            var random = SeededGenerator(seed: UInt64(index))
            for try await chunk in try await client.send(.get(server.url("/bytes/300000"))).body {
              if let last = chunk.last, last != TestContent.byte(at: offset + Int64(chunk.count) - 1) {
                return false
              }
              offset += Int64(chunk.count)
              // A reader that is slow now and then: its slowness itself.
              if UInt64.random(in: 0..<4, using: &random) == 0 { try await Task.sleep(for: .milliseconds(2)) }
            }
            return offset == 300_000
          }
        }
        for try await whole in group { #expect(whole) }
      }
      #expect(client.gauges.bufferedBytes == 0)
    }
    await server.stop()
  }

  @Test func `collecting stops at its limit and ends the exchange`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]),
      .sendForever([UInt8](repeating: 120, count: 65536), chunked: true),
    ])
    try await TestClient.with { client in
      let error = await failure {
        try await client.send(.get(server.url)).body.collect(upTo: .mebibytes(1))
      }
      #expect(error?.kind == .bodyTooLarge)
      try await server.waitForPeerClose()
    }
    await server.stop()
  }

  @Test func `an announced length above the limit fails before the body is read`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "2000000")]), .stall,
    ])
    try await TestClient.with { client in
      let error = await failure {
        try await client.send(.get(server.url)).body.collect(upTo: .mebibytes(1))
      }
      #expect(error?.kind == .bodyTooLarge)
      try await server.waitForPeerClose()
    }
    await server.stop()
  }
}
