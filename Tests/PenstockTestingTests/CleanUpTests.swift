import Glibc
import PenstockTesting
import Testing

/// The runtime opens descriptors of its own for its first timer, which the sleep here is.
private func warmUp() async throws {
  let server = try ScriptedServer(script: [.stall])
  let client = try RawClient(port: server.port)
  try await server.waitForConnections(1)
  try await Task.sleep(for: .milliseconds(1))
  client.close()
  try await server.waitForAllClosed()
  await server.stop()
}

/// Waits, five seconds at most, for what nothing signals; on its thread, as a timer of the runtime's would be counted.
private func comesTrue(_ condition: () -> Bool) -> Bool {
  let deadline = ContinuousClock.now + .seconds(5)
  while !condition() {
    guard ContinuousClock.now < deadline else { return false }
    usleep(1000)
  }
  return true
}

/// Counts what the whole process has open, so it runs in a process of its own.
@Suite struct CleanUpTests {
  @Test func nothing_is_left_after_stop() async throws {
    await #expect(processExitsWith: .success) {
      try await warmUp()
      let descriptors = entryCount("/proc/self/fd")
      for round in 0..<5 {
        let server = try ScriptedServer(
          scripts: [
            [.stall], [.wait(.seconds(3600))], [.waitForSignal("never")], [.expectRequest],
            [.sendForever([1], chunked: false)], [.drip([1, 2], size: 1, every: .seconds(3600))],
            [.repeatSteps(times: nil, [.wait(.milliseconds(1))])], [.readUntilClose],
          ])
        let chunks = try ChunkServer()
        var clients: [RawClient] = []
        for index in 0..<200 {
          clients.append(try RawClient(port: server.port))
          if index % 10 == 0 {
            let client = try RawClient(port: chunks.port)
            let paths = ["/bytes/9g", "/slow/9g?rate=10", "/delay/3600000", "/events", "/bytes/10"]
            try client.get(paths[index / 10 % 5])
            clients.append(client)
          }
        }
        try await server.waitForConnections(200)
        if round % 2 == 0 { clients.removeAll() }
        await server.stop()
        await server.stop()
        await chunks.stop()
        guard server.openConnectionCount == 0 else { exit(3) }
      }
      guard entryCount("/proc/self/fd") == descriptors else { exit(4) }
      // The kernel forgets a joined thread a moment later; the pool's own threads are few.
      guard comesTrue({ entryCount("/proc/self/task") <= 12 }) else { exit(5) }
    }
  }

  @Test func a_dropped_server_ends_by_itself() async throws {
    await #expect(processExitsWith: .success) {
      try await warmUp()
      let descriptors = entryCount("/proc/self/fd")
      do {
        let server = try ScriptedServer(script: [.stall])
        let chunks = try ChunkServer()
        let (one, two) = (try RawClient(port: server.port), try RawClient(port: chunks.port))
        try two.get("/events")
        try await server.waitForConnections(1)
        withExtendedLifetime((one, two)) {}
      }
      guard comesTrue({ entryCount("/proc/self/fd") == descriptors }) else { exit(4) }
    }
  }

  @Test func two_hundred_connections_at_once() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .waitForSignal("go"), .response(body: "ok"), .close,
    ])
    let clients = try (0..<200).map { _ in try RawClient(port: server.port) }
    for client in clients { try client.get("/") }
    try await server.waitForRequests(200)
    #expect(server.openConnectionCount == 200)
    server.open("go")
    for client in clients { #expect(try client.readAllText().hasSuffix("ok")) }
    try await server.waitForAllClosed()
    await server.stop()
  }
}
