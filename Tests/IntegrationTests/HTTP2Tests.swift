import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// HTTP/2 over TLS, against servers of others.
@Suite(.timeLimit(.minutes(1))) struct HTTP2Tests {
  @Test(
    "a hundred streams share one connection", .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func hundred_streams() async throws {
    try await NginxServer.with(files: ["k": 20_000]) { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        var responses: [Response] = []
        try await withThrowingTaskGroup(of: Response.self) { group in
          for _ in 0..<100 { group.addTask { try await client.send(.get(server.http2("/k"))) } }
          for try await response in group { responses.append(response) }
        }
        // All are open at once.
        #expect(responses.count == 100)
        let locals = Set(responses.map(\.facts.connection.local))
        #expect(locals.count == 1)
        for response in responses {
          #expect(response.version == .http2)
          #expect(try await response.body.drain() == 20_000)
        }
      }
    }
  }

  @Test(
    "what a held stream leaves behind when it is cancelled beside others is no part of a later body",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func cancelled_while_held() async throws {
    let size = 8 << 20
    try await NginxServer.with(files: ["big": size]) { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        let url = server.http2("/big")
        let held = 768 << 10
        // Keeps the connection in use.
        let sibling = try await client.send(.get(url))
        #expect(await eventually { client.gauges.bufferedBytes >= held })
        let cancelled = try await client.send(.get(url))
        #expect(await eventually { client.gauges.bufferedBytes >= 2 * held })
        cancelled.cancel()
        #expect(await eventually { client.gauges.bufferedBytes < 2 * held })
        // The next gets the handle of the one that was cancelled, and is held and let go in its turn.
        let next = try await client.send(.get(url))
        #expect(await eventually { client.gauges.bufferedBytes >= 2 * held })
        #expect(try await next.body.drain() == Int64(size))
        #expect(try await sibling.body.drain() == Int64(size))
        #expect(Set([sibling, cancelled, next].map(\.facts.connection.local)).count == 1)
      }
    }
  }

  @Test(
    "calls beyond the limit of streams wait and are served",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func many_calls() async throws {
    try await NginxServer.with(files: ["k": 2000]) { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        try await withThrowingTaskGroup(of: Int64.self) { group in
          for _ in 0..<400 {
            group.addTask { try await client.send(.get(server.http2("/k"))).body.drain() }
          }
          for try await count in group { #expect(count == 2000) }
        }
        #expect(await eventually { server.log().count >= 400 })
        let connections = Set(server.log().map { $0.split(separator: " ")[3] })
        #expect(connections.count == 1)
      }
    }
  }

  @Test(
    "one request goes first until the protocol is known",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func one_first() async throws {
    try await NginxServer.with(files: ["k": 2000]) { server in
      try await TestClient.trusting({ $0.limits.perHost = 4 }) { client in
        try await withThrowingTaskGroup(of: HTTPVersion.self) { group in
          for _ in 0..<40 {
            group.addTask {
              let response = try await client.send(.get(server.tls("/k")))
              _ = try await response.body.drain()
              return response.version
            }
          }
          for try await version in group { #expect(version == .http1_1) }
        }
        #expect(await eventually { server.log().count >= 40 })
        let connections = Set(server.log().map { $0.split(separator: " ")[3] })
        #expect(connections.count <= 4)
      }
    }
  }

  @Test(
    "a request that wants HTTP/2 alone isn't sent in anything else",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func pinned() async throws {
    try await NginxServer.with { server in
      try await TestClient.trusting({
        $0.loops = 1
        $0.version = .http2
      }) { client in
        for _ in 0..<2 {
          let error = await failure { try await client.send(.post(server.tls("/hello"), body: .string("x"))) }
          #expect(error?.kind == .tlsHandshake, "\(String(describing: error))")
          #expect(error?.phase == .connect)
          #expect(error?.mayHaveBeenProcessed == false)
        }
        let plain = await failure { try await client.send(.get(server.plain("/hello"))) }
        #expect(plain?.kind == .invalidConfiguration, "\(String(describing: plain))")
        #expect(server.log().isEmpty)
        // A kept connection of HTTP/1.1 isn't what the server offers.
        var old = Request.get(server.http2("/hello"))
        old.version = .http1_1
        for request in [old, .get(server.http2("/hello")), old, .get(server.http2("/hello"))] {
          let response = try await client.send(request)
          #expect(response.version == (request.version == .http1_1 ? .http1_1 : .http2))
          _ = try await response.body.drain()
        }
      }
    }
  }

  @Test("trailers of HTTP/2", .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func trailers() async throws {
    try await TLSScript.with("h2-trailers") { server in
      try await TestClient.trusting { client in
        let response = try await client.send(.get(server.url))
        #expect(response.version == .http2)
        #expect(try await response.body.drain() == 5)
        #expect(response.trailers?["x-t"] == "v")
      }
    }
  }

  @Test(
    "beside held streams a new one gets a connection of its own when the memory budget asks for it",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"), arguments: [Int64(16), 256])
  func held_streams(budget: Int64) async throws {
    try await NginxServer.with(files: ["big": 40 << 20, "k": 2000]) { server in
      try await TestClient.trusting({
        $0.loops = 1
        $0.memoryBudget = .mebibytes(budget)
      }) { client in
        let held = try await client.send(.get(server.http2("/big")))
        // Where a stream of HTTP/2 with the usual watermark is held.
        #expect(await eventually { client.gauges.bufferedBytes >= 768 << 10 })
        var locals: Set<String> = []
        for _ in 0..<3 {
          let other = try await client.send(.get(server.http2("/k")))
          #expect(other.version == .http2)
          #expect(try await other.body.drain() == 2000)
          locals.insert(other.facts.connection.local)
        }
        #expect(locals.contains(held.facts.connection.local) == (budget == 256))
        #expect(try await held.body.drain() == Int64(40 << 20))
        // Nobody is held any more: what is there is shared again.
        let last = try await client.send(.get(server.http2("/k")))
        #expect(try await last.body.drain() == 2000)
        #expect(last.facts.connection.reused)
      }
    }
  }

  @Test(
    "leaving the only stream is seen at once, with a reset or the end of the connection",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func leaving_alone() async throws {
    try await TLSScript.with("h2-silent") { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        var iterator: ResponseBody.Iterator? =
          try await client.send(.get(server.url)).body.makeAsyncIterator()
        _ = try await iterator?.next()
        let left = ContinuousClock.now
        iterator = nil
        var seen = "closed"
        for await line in server.process.lines where line == "rst 1" || line == "closed" {
          seen = line
          break
        }
        let arrival = try #require(server.process.arrival(of: seen))
        #expect(arrival - left < .seconds(1))
        _ = try await client.send(.get(server.url))
      }
    }
  }

  @Test(
    "leaving one of several streams resets it and keeps the connection",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"), arguments: [false, true])
  func leaving_among_others(isSiblingPaused: Bool) async throws {
    try await TLSScript.with("h2-silent") { server in
      try await TestClient.trusting({
        $0.loops = 1
        // Five bytes are enough to hold a stream.
        if isSiblingPaused { $0.watermark = Watermark(low: 0, high: 5) }
      }) { client in
        let sibling = try await client.send(.get(server.url))
        var iterator: ResponseBody.Iterator? =
          try await client.send(.get(server.url)).body.makeAsyncIterator()
        _ = try await iterator?.next()
        let left = ContinuousClock.now
        iterator = nil
        let stream = try await server.process.line("rst")
        #expect(stream == "3")
        let arrival = try #require(server.process.arrival(of: "rst 3"))
        #expect(arrival - left < .seconds(1))
        let next = try await client.send(.get(server.url))
        #expect(next.facts.connection.reused)
        #expect(client.gauges.running == 2)
        sibling.cancel()
        next.cancel()
      }
    }
  }

  @Test(
    "an early refusal of an upload is answered", .enabled(if: Tool.hasNginx, "needs nginx and openssl"),
    arguments: [false, true])
  func early_refusal(http2: Bool) async throws {
    try await NginxServer.with { server in
      try await TestClient.trusting { client in
        let (never, sink) = AsyncStream.makeStream(of: [UInt8].self)
        sink.yield([UInt8](repeating: 1, count: 10_000))
        let url = http2 ? server.http2("/small") : server.tls("/small")
        let response = try await client.send(.put(url, body: .stream(never, length: 1 << 20)))
        #expect(response.status == 413)
        _ = try await response.body.drain()
        #expect(await eventually { client.isIdle })
        sink.finish()
      }
    }
  }

  @Test("nghttpd serves many streams", .enabled(if: Tool.hasNghttpd, "needs nghttpd and openssl"))
  func nghttpd() async throws {
    try await NghttpdServer.with(files: ["k": 50_000], arguments: ["-m", "10"]) { server in
      try await TestClient.trusting { client in
        try await withThrowingTaskGroup(of: Int64.self) { group in
          for _ in 0..<100 {
            group.addTask { try await client.send(.get(server.url("/k"))).body.drain() }
          }
          for try await count in group { #expect(count == 50_000) }
        }
      }
    }
  }

  @Test(
    "the weight of a stream is told to the server", .enabled(if: Tool.hasNghttpd, "needs nghttpd and openssl")
  )
  func weight() async throws {
    try await NghttpdServer.with(files: ["k": 10], arguments: ["-v"]) { server in
      try await TestClient.trusting { client in
        var request = Request.get(server.url("/k"))
        request.streamWeight = 200
        _ = try await client.send(request).body.drain()
        _ = try await client.send(.get(server.url("/k"))).body.drain()
      }
      let weights = await server.stopped().filter { $0.contains("weight=") }
      // That of the first request alone; libcurl tells it in a frame of its own too.
      #expect(
        !weights.isEmpty && weights.allSatisfy { $0.contains("weight=200,") }, "\(weights)")
    }
  }
}
