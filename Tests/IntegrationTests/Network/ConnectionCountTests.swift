import Foundation
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// How many connections there are: to one host, after a while, with few descriptors.
@Suite(.timeLimit(.minutes(2)), .serialized) struct ConnectionCountTests {
  @Test(
    "a peer that allows ten streams gets few connections",
    .enabled(if: Tool.hasNghttpd, "needs nghttpd and openssl"))
  func few_streams() async throws {
    try await NghttpdServer.with(files: ["k": 20_000], arguments: ["-m", "10"]) { server in
      try await TestClient.trusting({
        $0.loops = 1
        $0.limits.perHost = 8
      }) { client in
        let locals = try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<64 {
            group.addTask {
              let response = try await client.send(.get(server.url("/k")))
              let count = try await response.body.drain()
              #expect(count == 20_000)
              return response.facts.connection.local
            }
          }
          var locals: Set<String> = []
          for try await local in group { locals.insert(local) }
          return locals
        }
        #expect(locals.count <= 8)
        let gauges = await client.connectionGauges()
        #expect(gauges.open <= 8)
        #expect(gauges.inUse == 0)
      }
    }
  }

  @Test func `long-lived streams have connections beside those for calls`() async throws {
    let server = try ScriptedServer(script: [
      .respondEach([
        .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), .waitForSignal("go"), .send("llo"),
      ])
    ])
    try await TestClient.with({
      $0.loops = 1
      $0.limits.perHost = 2
    }) { client in
      var long = Request.get(server.url)
      long.isLongLived = true
      var open: [Response] = []
      for _ in 0..<6 { open.append(try await client.send(long)) }
      #expect(server.connectionCount == 6)
      #expect(await client.connectionGauges().inUse == 6)
      server.open("go")
      for response in open {
        let count = try await response.body.drain()
        #expect(count == 5)
      }
    }
    await server.stop()
  }

  @Test func `a connection that nobody uses is closed when its time is over`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with({
      $0.loops = 1
      $0.connectionAge.idle = .zero
    }) { client in
      try await client.expect("ok", from: .get(server.url))
      #expect(await client.connectionGauges().open <= 1)
      // No further request comes.
      #expect(await eventually { await client.connectionGauges().open == 0 })
    }
    await server.stop()
  }

  @Test func `a kept connection is counted, and updates tell of it`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with({ $0.loops = 1 }) { client in
      var updates = client.connectionGaugeUpdates(every: .milliseconds(5)).makeAsyncIterator()
      let first = await updates.next()
      #expect(first == ConnectionGauges())
      try await client.expect("ok", from: .get(server.url))
      var last = await updates.next()
      while let gauges = last, gauges.idle == 0 { last = await updates.next() }
      #expect(last?.open == 1)
      #expect(last?.inUse == 0)
    }
    await server.stop()
  }

  @Test func `calls that wait are counted by origin`() async throws {
    let server = try ScriptedServer(script: [
      .respondEach([.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .waitForSignal("go"), .send("ok")])
    ])
    try await TestClient.with({ $0.limits.perHost = 1 }) { client in
      let first = try await client.send(.get(server.url))
      let others = (0..<3).map { _ in Task { try await client.text(.get(server.url)) } }
      #expect(
        await eventually { await client.connectionGauges().queued == ["http://127.0.0.1:\(server.port)": 3] })
      server.open("go")
      let count = try await first.body.drain()
      #expect(count == 2)
      for other in others {
        let text = try await other.value
        #expect(text == "ok")
      }
      #expect(await client.connectionGauges().queued.isEmpty)
    }
    await server.stop()
  }

  @Test(
    "many hosts with few descriptors all end well", .enabled(if: Tool.hasNginx, "needs nginx and openssl"),
    arguments: [24, 48, 128])
  func few_descriptors(limit: Int) async throws {
    try await NginxServer.with { server in
      let count = 5000
      let probe = try ChildProcess([
        Tool.built("fault-probe"), "descriptors", "\(server.plainPort)", "\(limit)", "\(count)", "500",
      ])
      var facts: [String: String] = [:]
      for await line in probe.lines {
        let parts = line.split(separator: " ", maxSplits: 1)
        if parts.count == 2 { facts[String(parts[0])] = String(parts[1]) }
      }
      let status = await probe.status()
      #expect(status == 0)
      #expect(facts["good"] == "\(count)", "\(facts)")
      #expect(facts["error"] == nil)
      #expect(facts["in-use"] == "0")
      #expect(facts["look-up"] == HTTPError.Kind.hostNotResolved.rawValue, "\(facts)")
    }
  }

  @Test(
    "a peer that allows ten streams is served with the descriptors that there are",
    .enabled(if: Tool.hasNghttpd, "needs nghttpd and openssl"))
  func few_streams_and_descriptors() async throws {
    let root = try await Certificates.shared().root
    try await NghttpdServer.with(files: ["k": 20_000], arguments: ["-m", "10"]) { server in
      let probe = try ChildProcess([
        Tool.built("fault-probe"), "few-streams", server.url("/k"), root, "4", "64",
      ])
      var facts: [String: String] = [:]
      for await line in probe.lines {
        let parts = line.split(separator: " ", maxSplits: 1)
        if parts.count == 2 { facts[String(parts[0])] = String(parts[1]) }
      }
      #expect(await probe.status() == 0)
      #expect(facts["good"] == "64", "\(facts)")
      // Those that there are descriptors for are opened once, and kept while requests wait for them.
      #expect(facts["connections"].flatMap { Int($0) }.map { $0 <= 6 } == true, "\(facts)")
    }
  }
}
