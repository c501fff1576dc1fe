import CurlTransport
import Foundation
import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport

/// Rounds of 64 calls of all kinds against a hostile server, each left at a random point, many clients shut down in
/// the middle: `storm SEED ROUNDS [URL …]`, where the URLs are further servers that speak TLS.
enum Storm {
  static func run(seed: UInt64, rounds: Int, urls: [String]) async throws {
    let folder = NSTemporaryDirectory() + "penstock-storm-\(getpid())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // Sets up what stays for the life of the process.
    try await round(seed &- 1, urls, folder)
    let descriptors = ProcessFacts.descriptors
    for index in 0..<rounds {
      let number = seed &+ UInt64(index)
      // A round that hangs is ended by nothing else.
      let watch = Task {
        try await Task.sleep(for: .seconds(120))
        print("hang \(number)")
        abort()
      }
      try await round(number, urls, folder)
      watch.cancel()
    }
    _ = await ProcessFacts.eventually {
      ProcessFacts.descriptors <= descriptors && ProcessFacts.loopThreads == 0
        && CurlTransport.liveTransfers == 0
    }
    print("descriptors \(ProcessFacts.descriptors - descriptors)")
    print("loops \(ProcessFacts.loopThreads)")
    print("transfers \(CurlTransport.liveTransfers)")
  }

  private static func round(_ seed: UInt64, _ urls: [String], _ folder: String) async throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<4 { _ = random.next() }
    let server = try HostileServer.make()
    let client = Client(configuration: configuration(&random))
    let isShutDown = random.next(below: 3) > 0
    let end = Duration.microseconds(random.next(below: 200_000))
    let isImmediate = random.next(below: 4) > 0
    var calls: [(call: StormCall, cancelledAfter: Duration?)] = []
    for _ in 0..<64 {
      let cancelled = random.next(below: 2) == 0 ? Duration.microseconds(random.next(below: 60_000)) : nil
      calls.append((call(client, server, &random, urls, folder), cancelled))
    }
    await withTaskGroup(of: Void.self) { group in
      for (call, cancelledAfter) in calls {
        group.addTask {
          let task = Task { try await call.run() }
          // Random instants, here and below, are what a storm is about.
          if let cancelledAfter {
            try? await Task.sleep(for: cancelledAfter)
            task.cancel()
          }
          if case .failure(let error) = await task.result, !(error is HTTPError),
            !(error is CancellationError)
          {
            print("error \(error)")
          }
        }
      }
      if isShutDown {
        group.addTask {
          try? await Task.sleep(for: end)
          await client.shutdown(isImmediate ? .immediate : .graceful)
        }
      }
    }
    let gauges = client.gauges
    if gauges.running + gauges.longLived + gauges.waiting > 0 || gauges.bufferedBytes > 0 {
      let isIdle = await ProcessFacts.eventually {
        client.gauges.running + client.gauges.longLived + client.gauges.waiting == 0
          && client.gauges.bufferedBytes == 0
      }
      if !isIdle { print("busy \(seed)") }
    }
    await client.shutdown(.immediate)
    await server.stop()
  }

  private static func configuration(_ random: inout SeededGenerator) -> ClientConfiguration {
    var configuration = ClientConfiguration()
    configuration.loops = 1 + random.next(below: 3)
    configuration.limits.total = 8 + random.next(below: 80)
    configuration.limits.perHost = 2 + random.next(below: 64)
    if random.next(below: 2) == 0 { configuration.watermark = Watermark(low: 4 << 10, high: 32 << 10) }
    if random.next(below: 4) == 0 { configuration.memoryBudget = .kibibytes(256) }
    if random.next(below: 2) == 0 { configuration.retry = RetryPolicy(limit: 2) }
    configuration.retry?.backoff.base = .milliseconds(1)
    configuration.redirects.limit = 5
    configuration.timeouts.firstByte = .milliseconds(500)
    configuration.timeouts.idle = .milliseconds(500)
    configuration.timeouts.total = .seconds(2)
    configuration.tls.verifiesTrust = false
    configuration.cookies = random.next(below: 2) == 0 ? CookieJar() : nil
    return configuration
  }

  private static func call(
    _ client: Client, _ server: ScriptedServer, _ random: inout SeededGenerator, _ urls: [String],
    _ folder: String
  ) -> StormCall {
    let number = random.next(below: 1 << 30)
    var url = server.url("/\(number)")
    switch random.next(below: 8) {
    case 0: url = "https://127.0.0.1:\(server.port)/\(number)"
    case 1, 2, 3: if !urls.isEmpty { url = urls[random.next(below: urls.count)] }
    default: break
    }
    var request = Request.get(url)
    switch random.next(below: 6) {
    case 0: request = .put(url, body: .bytes(random.bytes(random.next(below: 20_000))))
    case 1: request = .post(url, body: .bytes([UInt8](repeating: 1, count: random.next(below: 4 << 20))))
    case 2: request = .post(url, body: .stream(pieces(random.next(below: 40))))
    case 3: request = Request(.head, url)
    default: break
    }
    return StormCall(
      client: client, request: request, kind: random.next(below: StormCall.kinds),
      leavesAt: random.next(below: 3) == 0 ? random.next(below: 6) : nil, folder: folder)
  }

  private static func pieces(_ count: Int) -> AsyncStream<[UInt8]> {
    let left = PiecesLeft(count)
    return AsyncStream {
      guard left.take() else { return nil }
      await Task.yield()
      return [UInt8](repeating: 2, count: 10_000)
    }
  }
}

/// How many pieces of a streamed body are left.
private final class PiecesLeft: Sendable {
  private let count: Atomic<Int>

  init(_ count: Int) { self.count = Atomic(count) }

  func take() -> Bool { count.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 }
}
