import PenstockTestSupport
import PenstockTesting
import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// Observing, waiting for and ending a download.
@Suite struct DownloadHandleTests {
  /// A server whose body stops in the middle until "rest" is signalled.
  private static func haltingServer() throws -> ScriptedServer {
    try ScriptedServer { _ in
      [
        .head(fields: [("Content-Length", "10")]), .send("hello"), .waitForSignal("rest"), .send("world"),
      ]
    }
  }

  private static func waitForStart(_ download: Download) async {
    for await event in download.events { if case .started = event { return } }
  }

  @Test func `many observers and many who wait all see the end`() async throws {
    let folder = try TestFolder()
    let server = try ChunkServer()
    let client = Client()
    let download = client.download(.get(server.url("/slow/400000?rate=1000000")), to: .file(folder("f")))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          var names: [String] = []
          var received: Int64 = -1
          for await event in download.events {
            switch event {
            case .started(let start):
              names.append("started")
              #expect(start.total == 400_000)
              #expect(start.file == folder("f"))
            case .progress(let progress):
              #expect(progress.received >= received)
              #expect(progress.total == 400_000)
              received = progress.received
              if names.last != "progress" { names.append("progress") }
            case .restarted: names.append("restarted")
            case .retry: names.append("retry")
            case .finished: names.append("finished")
            case .failed: names.append("failed")
            }
          }
          #expect(names == ["started", "progress", "finished"])
          #expect(received == 400_000)
        }
        group.addTask {
          let file = try await download.value
          #expect(file.bytes == 400_000)
        }
      }
      try await group.waitForAll()
    }
    #expect(download.progress.received == 400_000)
    guard case .success(let file)? = download.result else {
      Issue.record("it has a result")
      return
    }
    #expect(file.path == folder("f"))
    await client.shutdown()
    await server.stop()
  }

  @Test func `cancelling the handle leaves nothing and closes the connection`() async throws {
    let folder = try TestFolder()
    let server = try Self.haltingServer()
    let client = Client()
    let download = client.download(.get(server.url("/f")), to: .file(folder("f")))
    await Self.waitForStart(download)
    #expect(folder.names == ["f.part"])
    #expect(await eventually { download.progress.received == 5 })
    download.cancel()
    let error = await #expect(throws: HTTPError.self) { try await download.value }
    #expect(error?.kind == .cancelled)
    #expect(error?.received == 5 && error?.status == 200, "it tells how far it had come")
    #expect(folder.names.isEmpty)
    try await server.waitForPeerClose()
    download.cancel()
    await client.shutdown()
    await server.stop()
  }

  @Test func `cancelling the only one who waits ends the download`() async throws {
    let folder = try TestFolder()
    let server = try Self.haltingServer()
    let client = Client()
    let download = client.download(.get(server.url("/f")), to: .file(folder("f")))
    await Self.waitForStart(download)
    let waiting = Task { try await download.value }
    waiting.cancel()
    let error = await #expect(throws: HTTPError.self) { try await waiting.value }
    #expect(error?.kind == .cancelled)
    #expect(folder.names.isEmpty, "nothing is left when the call returns")
    #expect(download.result != nil)
    try await server.waitForPeerClose()
    await client.shutdown()
    await server.stop()
  }

  @Test func `cancelling one of several who wait leaves the others theirs`() async throws {
    let folder = try TestFolder()
    let server = try Self.haltingServer()
    let client = Client()
    let download = client.download(.get(server.url("/f")), to: .file(folder("f")))
    await Self.waitForStart(download)
    let entered = AsyncStream.makeStream(of: Void.self)
    let stays = Task {
      entered.continuation.yield()
      return try await download.value
    }
    for await _ in entered.stream { break }
    // The other one is certain to wait once the leaver is told apart from the last.
    while download.waiting < 1 { await Task.yield() }
    let leaves = Task { try await download.value }
    while download.waiting < 2 { await Task.yield() }
    leaves.cancel()
    let error = await #expect(throws: HTTPError.self) { try await leaves.value }
    #expect(error?.kind == .cancelled)
    server.signal("rest")
    #expect(try await stays.value.bytes == 10)
    #expect(folder.text("f") == "helloworld")
    await client.shutdown()
    await server.stop()
  }

  @Test func `when all who wait are cancelled at once the download ends`() async throws {
    let folder = try TestFolder()
    let server = try Self.haltingServer()
    let client = Client()
    for round in 0..<20 {
      let download = client.download(.get(server.url("/f")), to: .file(folder("f\(round)")))
      await Self.waitForStart(download)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { _ = try? await download.value } }
        while download.waiting < 8 { await Task.yield() }
        group.cancelAll()
      }
      // The handle is still held: only the leaving of the last can end it.
      for await _ in download.events {}
      guard case .failure(let error)? = download.result else {
        Issue.record("it ends")
        return
      }
      #expect(error.kind == .cancelled)
    }
    #expect(folder.names.isEmpty)
    await client.shutdown()
    await server.stop()
  }

  @Test func `dropping the handle ends the download`() async throws {
    let folder = try TestFolder()
    let server = try Self.haltingServer()
    let client = Client()
    do {
      let download = client.download(.get(server.url("/f")), to: .file(folder("f")))
      await Self.waitForStart(download)
    }
    try await server.waitForPeerClose()
    // What had come is removed a little later.
    #expect(await eventually { folder.names.isEmpty })
    await client.shutdown()
    await server.stop()
  }

  @Test func `waiting for the value of a handle that nobody holds works`() async throws {
    let folder = try TestFolder()
    let server = try ChunkServer()
    let client = Client()
    for index in 0..<20 {
      let file = try await client.download(.get(server.url("/bytes/300000")), to: .file(folder("\(index)")))
        .value
      #expect(file.bytes == 300_000)
    }
    await client.shutdown()
    await server.stop()
  }

  @Test func `an observer that is cancelled leaves, and the download goes on`() async throws {
    let folder = try TestFolder()
    let server = try Self.haltingServer()
    let client = Client()
    let download = client.download(.get(server.url("/f")), to: .file(folder("f")))
    await Self.waitForStart(download)
    let observer = Task { for await _ in download.events {} }
    observer.cancel()
    await observer.value
    #expect(download.result == nil)
    server.signal("rest")
    #expect(try await download.value.bytes == 10)
    await client.shutdown()
    await server.stop()
  }

  @Test func `cancelling before the head leaves nothing`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    let client = Client()
    let download = client.download(.get(server.url("/f")), to: .file(folder("f")))
    try await server.waitForRequests(1)
    download.cancel()
    await #expect(throws: HTTPError.self) { try await download.value }
    try await server.waitForPeerClose()
    #expect(folder.names.isEmpty)
    await client.shutdown()
    await server.stop()
  }

  @Test func `shutting the client down ends its downloads`() async throws {
    let folder = try TestFolder()
    let server = try Self.haltingServer()
    let client = Client()
    let download = client.download(.get(server.url("/f")), to: .file(folder("f")))
    await Self.waitForStart(download)
    await client.shutdown(.immediate)
    let error = await #expect(throws: HTTPError.self) { try await download.value }
    #expect(error?.kind == .shutdown)
    #expect(folder.names.isEmpty)
    await server.stop()
  }

  @Test func `a disk that stands still holds its own socket back and nobody else's`() async throws {
    let folder = try TestFolder()
    let size: Int64 = 48 << 20
    let server = try ScriptedServer { request in
      request.target == "/big"
        ? [.head(fields: [("Content-Length", "\(size)")]), .sendContent(count: size)]
        : [.response(body: "small")]
    }
    let client = Client()
    let disk = TestDisk(waitsForTurns: true)
    let download = client.download(.get(server.url("/big")), to: .file(folder("f")), calls: disk.calls)
    await Self.waitForStart(download)
    try await server.waitForSendBlocked()
    // What the kernel holds on both sides of the socket is not ours; the rest is bounded.
    #expect(server.bytesSent() < 32 << 20)
    #expect(client.gauges.bufferedBytes <= 4 << 20)
    for _ in 0..<50 {
      let response = try await client.send(.get(server.url("/small")))
      #expect(try await response.body.collect(upTo: .kibibytes(1)).count == 5)
    }
    disk.giveTurns(1000)
    #expect(try await download.value.bytes == size)
    let bytes = try #require(folder.read("f"))
    #expect(ContentCheck.matches(bytes))
    await client.shutdown()
    await server.stop()
  }

  @Test func `a cancelled download waits for the write under way and then is gone`() async throws {
    let folder = try TestFolder()
    let server = try ChunkServer()
    let client = Client()
    let disk = TestDisk(waitsForTurns: true)
    let download = client.download(
      .get(server.url("/bytes/50000000")), to: .file(folder("f")), calls: disk.calls)
    await Self.waitForStart(download)
    download.cancel()
    disk.giveTurns(1000)
    await #expect(throws: HTTPError.self) { try await download.value }
    #expect(folder.names.isEmpty)
    await client.shutdown()
    await server.stop()
  }
}
