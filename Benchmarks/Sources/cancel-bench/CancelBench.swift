import Foundation
import Penstock
import PenstockTesting

/// How long after the cancellation of a task its server sees the end: `cancel-bench [COUNT [FOLDER OF TEST SCRIPTS]]`.
@main enum CancelBench {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let count = arguments.count > 1 ? Int(arguments[1]) ?? 200 : 200
    print("\(count) each, milliseconds from `cancel()` until the server sees the end")
    for phase in Phase.allCases { report(phase.rawValue, try await times(phase, count)) }
    report("connecting: until the place is free", try await connecting(count))
    guard arguments.count > 2 else { return }
    for hasSibling in [false, true] {
      let name = hasSibling ? "HTTP/2, beside another stream" : "HTTP/2, a lone stream"
      report(name, try await http2(count, script: arguments[2] + "/tls_server.py", hasSibling: hasSibling))
    }
  }

  private static func makeClient() -> Client {
    var configuration = ClientConfiguration()
    configuration.tls.verifiesTrust = false
    configuration.tls.verifiesName = false
    configuration.loops = 1
    return Client(configuration: configuration)
  }

  private static func times(_ phase: Phase, _ count: Int) async throws -> [Duration] {
    let server = try ScriptedServer(script: phase.script)
    let client = makeClient()
    var times: [Duration] = []
    for index in 0..<count {
      let request = phase.request(server)
      let call = Task.detached {
        for try await _ in try await client.send(request).body where phase == .heldBody {
          try await Task.sleep(for: .seconds(3600))
        }
      }
      try await phase.isReached(server, connection: index)
      let start = ContinuousClock.now
      call.cancel()
      times.append(try await server.waitForPeerClose(connection: index) - start)
      _ = await call.result
    }
    await client.shutdown(.immediate)
    await server.stop()
    return times
  }

  /// A peer that answers no SYN sees nothing: what can be seen is that we have given up.
  private static func connecting(_ count: Int) async throws -> [Duration] {
    let client = makeClient()
    let listener = try FullListener()
    var times: [Duration] = []
    for _ in 0..<count {
      let call = Task.detached { try await client.send(.get(listener.url)) }
      try await Task.sleep(for: .milliseconds(5))
      let start = ContinuousClock.now
      call.cancel()
      while client.gauges.running > 0 { await Task.yield() }
      times.append(ContinuousClock.now - start)
      _ = await call.result
    }
    await client.shutdown(.immediate)
    return times
  }

  private static func http2(_ count: Int, script: String, hasSibling: Bool) async throws -> [Duration] {
    let peer = try HTTP2Peer(script: script)
    defer { peer.stop() }
    let client = makeClient()
    var times: [Duration] = []
    let sibling = hasSibling ? try await client.send(.get(peer.url)) : nil
    for _ in 0..<count {
      let response = try await client.send(.get(peer.url))
      let call = Task.detached { try await response.body.drain() }
      await Task.yield()
      let start = ContinuousClock.now
      call.cancel()
      _ = peer.line(hasSibling ? "rst" : "closed")
      times.append(ContinuousClock.now - start)
      _ = await call.result
    }
    sibling?.cancel()
    await client.shutdown(.immediate)
    return times
  }

  private static func report(_ name: String, _ times: [Duration]) {
    let sorted = times.sorted()
    func text(_ share: Double) -> String {
      let time = sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
      return String(format: "%8.3f", time / .milliseconds(1))
    }
    let padded = name.padding(toLength: 40, withPad: " ", startingAt: 0)
    print("\(padded) p50 \(text(0.5))  p99 \(text(0.99))  max \(text(1))")
    fflush(nil)
  }
}
