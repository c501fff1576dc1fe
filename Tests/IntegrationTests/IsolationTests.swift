import Glibc
import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct IsolationTests {
  @Test @MainActor func `a reader on the main actor stays there`() async throws {
    let server = try ChunkServer()
    let client = Client()
    var count = 0
    for try await chunk in try await client.send(.get(server.url("/bytes/4m"))).body {
      MainActor.preconditionIsolated()
      count += chunk.count
    }
    #expect(count == 4 << 20)
    await client.shutdown()
    await server.stop()
  }

  @Test func `everything on the loop runs on one thread`() async throws {
    let server = try ChunkServer()
    try await TestClient.with({ $0.loops = 1 }) { client in
      let threads = try await client.onLoop {
        var threads: Set<UInt> = [currentThread()]
        for _ in 0..<20 {
          let response = try await client.send(.get(server.url("/bytes/100k")))
          threads.insert(currentThread())
          for try await _ in response.body { threads.insert(currentThread()) }
        }
        return threads
      }
      #expect(threads.count == 1)
    }
    await server.stop()
  }

  @Test func `the last reference may go inside of a loop's own code`() async throws {
    let server = try ChunkServer()
    for _ in 0..<20 {
      var client: Client? = Client()
      var response: Response? = try await client?.send(.get(server.url("/bytes/2m")))
      let owned = try #require(client)
      client = nil
      let iterator = try #require(response?.body.makeAsyncIterator())
      response = nil
      try await drop(owned, iterator)
    }
    await server.stop()
  }

  private func drop(_ client: consuming Client, _ iterator: consuming ResponseBody.Iterator) async throws {
    var held: Client? = client
    var iterator = iterator
    let inner = held
    try await inner?.onLoop { [inner] in _ = inner }
    held = nil
    while try await iterator.next() != nil {}
  }
}

private func currentThread() -> UInt { UInt(pthread_self()) }
