import CurlTransport
import Glibc
import Penstock
import PenstockTesting
import StreamCore
import Synchronization

/// What the process holds while much goes through it.
enum Memory {
  /// Ten thousand small requests under one task, half of them cancelled: what is held after a thousand and at the end.
  static func manyRequestsOfOneTask() async throws {
    let server = try ChunkServer()
    let client = Client()
    for round in 0..<10 {
      await thousand(client, server)
      _ = await ProcessFacts.eventually { CurlTransport.liveTransfers == 0 }
      if round == 0 || round == 9 {
        print("transfers-\(round) \(CurlTransport.liveTransfers)")
        print("kibibytes-\(round) \(resident)")
      }
    }
    await client.shutdown()
    await server.stop()
  }

  private static func thousand(_ client: Client, _ server: ChunkServer) async {
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<1000 {
        if index >= 32 { await group.next() }
        group.addTask {
          let call = Task { try await client.send(.get(server.url("/bytes/2000"))).body.drain() }
          if index % 2 == 0 { call.cancel() }
          _ = await withTaskCancellationHandler {
            await call.result
          } onCancel: {
            call.cancel()
          }
        }
      }
    }
  }

  /// Half a gibibyte that comes as fast as it can, and a reader that takes its time.
  static func slowReader() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "\(512 << 20)")]), .sendContent(count: 512 << 20),
    ])
    let client = Client()
    // What is set up once is there after this.
    for try await _ in try await client.send(.get(server.url)).body { break }
    let before = resident
    let response = try await client.send(.get(server.url))
    var most = 0
    var count = 0
    for try await _ in response.body {
      // The reader's slowness itself.
      try await Task.sleep(for: .milliseconds(50))
      most = max(most, resident - before)
      count += 1
      if count == 30 { break }
    }
    print("chunks \(count)")
    print("kibibytes \(most)")
    await client.shutdown(.immediate)
    await server.stop()
  }

  /// A large upload, echoed by the server, and a large download at once on one connection of HTTP/2.
  static func bothWays(url: String, root: String, mebibytes: Int) async throws {
    var configuration = ClientConfiguration()
    configuration.loops = 1
    configuration.tls.caFile = root
    configuration.proxy = .direct
    let client = Client(configuration: configuration)
    _ = try await client.send(.get(url + "/small")).body.drain()
    let before = resident
    let block = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) }
    let upload = RequestBody.replayableStream(length: Int64(mebibytes << 20)) {
      let left = Atomic(mebibytes)
      return AsyncStream(unfolding: {
        left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 ? block : nil
      })
    }
    // On the loop, so that both keep pace however busy the machine is: libcurl takes in up to a window of 32 MiB for a
    // stream whose reader falls behind while the other runs (decision 40).
    async let echo = client.onLoop { try await read(client, .post(url + "/small", body: upload)) }
    async let download = client.onLoop { try await read(client, .get(url + "/large")) }
    for (name, read, expected) in [
      ("echo", try await echo, try digest(of: block, times: mebibytes)),
      (
        "download", try await download,
        try digest(of: [UInt8](repeating: 0x78, count: 1 << 20), times: mebibytes)
      ),
    ] {
      print("\(name) \(read.digest == expected ? 1 : 0)")
      print("\(name)-kibibytes \(read.most - before)")
      print("\(name)-local \(read.local)")
    }
    await client.shutdown()
  }

  private static func read(
    _ client: Client, _ request: Request
  ) async throws -> (digest: String, most: Int, local: String) {
    let response = try await client.send(request)
    var hasher = try DigestHasher(.sha256)
    var most = 0
    var count = 0
    for try await chunk in response.body {
      try hasher.update(chunk)
      if count.isMultiple(of: 64) { most = max(most, resident) }
      count += 1
    }
    return (try hasher.finalize().hex, most, response.facts.connection.local)
  }

  private static func digest(of block: [UInt8], times: Int) throws -> String {
    var hasher = try DigestHasher(.sha256)
    for _ in 0..<times { try hasher.update(block) }
    return try hasher.finalize().hex
  }

  /// The resident set in KiB.
  static var resident: Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE)) / 1024
  }
}
