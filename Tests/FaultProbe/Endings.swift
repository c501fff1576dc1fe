import Glibc
import Penstock
import PenstockTesting
import StreamCore

/// How things end: the process, the last reference, a connection under TLS.
enum Endings {
  static func exitWithActiveTransfers() async throws {
    let server = try ChunkServer()
    let client = Client()
    var responses: [Response] = []
    for _ in 0..<10 { responses.append(try await client.send(.get(server.url("/slow/100m")))) }
    print("active \(client.gauges.running)")
    fflush(nil)
    exit(7)
  }

  static func dropOnLoop() async throws {
    let server = try ChunkServer()
    for _ in 0..<50 {
      try await useAndDrop(server.url("/bytes/1m"))
      let dropped = Task { try await useAndDrop(server.url("/slow/1m?rate=1m")) }
      // Nothing to wait for: it is cancelled somewhere on its way, each round elsewhere.
      try await Task.sleep(for: .milliseconds(1))
      dropped.cancel()
      _ = await dropped.result
    }
    let isDone = await ProcessFacts.eventually { server.openConnectionCount == 0 }
    print("closed \(isDone ? 1 : 0)")
    await server.stop()
    let hasNoLoop = await ProcessFacts.eventually { ProcessFacts.loopThreads == 0 }
    print("ended \(hasNoLoop ? 1 : 0)")
  }

  /// The last reference goes on the loop thread, between two chunks.
  private static func useAndDrop(_ url: String) async throws {
    var client: Client? = Client()
    let body: @Sendable @concurrent () async throws -> Void = { [client] in
      guard let response = try await client?.send(.get(url)) else { return }
      for try await _ in response.body {}
    }
    client = nil
    // The closure holds the last reference, and a loop of another client runs it.
    let other = Client()
    try await other.onLoop(body)
    await other.shutdown()
  }

  /// With SIGPIPE at its default, a write to a connection that the peer has reset would end the process.
  static func resetUnderTLS(url: String, root: String) async throws {
    signal(SIGPIPE, SIG_DFL)
    var configuration = ClientConfiguration()
    configuration.tls.caFile = root
    let client = Client(configuration: configuration)
    for _ in 0..<20 {
      do throws(HTTPError) {
        _ = try await client.send(.get(url)).body.drain()
      } catch {
        print("error \(error.kind.rawValue)")
      }
    }
    await client.shutdown()
    print("survived 1")
  }
}
