import CurlTransport
import Penstock
import PenstockTesting
import StreamCore

/// Many exchanges, then a shutdown: descriptors and threads must be as before.
enum Leftovers {
  static func afterRequests(_ count: Int) async throws {
    try await measured(count) { client, server, count in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<8 {
          group.addTask {
            for index in 0..<(count / 8) {
              let path = index % 5 == 0 ? "/chunked/20000" : "/bytes/1000"
              let request =
                index % 7 == 0
                ? Request.post(server.url("/echo"), body: .string("worker \(worker)"))
                : .get(server.url(path))
              _ = try await client.send(request).body.drain()
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  static func afterCancellation(_ count: Int) async throws {
    try await measured(count) { client, server, count in
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<count {
          group.addTask {
            let path = ["/bytes/50m", "/slow/10m", "/delay/10000", "/drop/1m", "/events?interval=1"][
              index % 5]
            let body: RequestBody = index % 3 == 0 ? .bytes([UInt8](repeating: 1, count: 100_000)) : .empty
            let call = Task { try await client.send(.put(server.url(path), body: body)).body.drain() }
            // Any moment of an exchange.
            try? await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000)))
            call.cancel()
            _ = await call.result
          }
        }
      }
    }
  }

  /// Runs it twice: the first time, with fewer, also sets up what stays for the life of the process, such as the
  /// timers of the tasks' own threads.
  private static func measured(
    _ count: Int, _ body: (Client, ChunkServer, Int) async throws -> Void
  ) async throws {
    _ = try await once(count / 4, body)
    let descriptors = ProcessFacts.descriptors
    let isIdle = try await once(count, body)
    print("idle \(isIdle ? 1 : 0)")
    _ = await ProcessFacts.eventually {
      ProcessFacts.descriptors <= descriptors && ProcessFacts.loopThreads == 0
    }
    print("descriptors \(ProcessFacts.descriptors - descriptors)")
    print("loops \(ProcessFacts.loopThreads)")
    print("transfers \(CurlTransport.liveTransfers)")
  }

  private static func once(
    _ count: Int, _ body: (Client, ChunkServer, Int) async throws -> Void
  ) async throws -> Bool {
    var configuration = ClientConfiguration()
    configuration.loops = 2
    let client = Client(configuration: configuration)
    let server = try ChunkServer()
    try await body(client, server, count)
    let isIdle = await ProcessFacts.eventually {
      client.gauges.running == 0 && client.gauges.waiting == 0 && client.gauges.bufferedBytes == 0
    }
    await client.shutdown()
    await server.stop()
    return isIdle
  }
}
