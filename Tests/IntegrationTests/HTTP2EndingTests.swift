import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// How streams and connections of HTTP/2 end. libcurl tells some endings by its words alone: what it says is seen here,
/// so that a libcurl with other words is noticed.
@Suite(.timeLimit(.minutes(1))) struct HTTP2EndingTests {
  @Test(
    "a refused stream is tried again, a POST too, and its body is whole",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"), arguments: [HTTPMethod.get, .post, .put])
  func refused_stream(method: HTTPMethod) async throws {
    try await TLSScript.with("h2-refuse-odd") { server in
      // Often: the refusal may come before the bytes of the body, or behind them.
      for _ in 0..<10 {
        try await TestClient.trusting({ $0.loops = 1 }) { client in
          var request = Request(method, server.url)
          if method != .get { request.body = .string("abc") }
          try await client.expect("ok", from: request)
        }
      }
    }
  }

  @Test(
    "an answer that is whole before the request's body has gone ends the exchange",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"), arguments: [HTTPMethod.post, .put])
  func early_answer(method: HTTPMethod) async throws {
    try await TLSScript.with("h2") { server in
      // Often, on connections of their own: the answer races the body.
      for _ in 0..<20 {
        try await TestClient.trusting({ $0.loops = 1 }) { client in
          var request = Request(method, server.url)
          request.body = .string("abc")
          try await client.expect("ok", from: request)
        }
      }
    }
  }

  @Test(
    "a stream that is always refused is an error after four tries",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"), arguments: [HTTPMethod.get, .post])
  func always_refused(method: HTTPMethod) async throws {
    try await TLSScript.with("h2-refuse", ["1000"]) { server in
      try await TestClient.trusting { client in
        let error = await failure { try await client.send(Request(method, server.url)) }
        #expect(error?.kind == .connectionLost, "\(String(describing: error))")
      }
      await server.process.stop()
      var streams = 0
      for await line in server.process.lines where line.hasPrefix("stream") { streams += 1 }
      #expect(streams == 4)
    }
  }

  @Test(
    "a stream that is reset in its body is an error",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func early_reset() async throws {
    try await TLSScript.with("h2-reset") { server in
      try await TestClient.trusting { client in
        let error = await failure { try await client.send(.get(server.url)).body.drain() }
        #expect(error?.kind == .http2Stream, "\(String(describing: error))")
      }
    }
  }

  @Test(
    "what came for a held stream is delivered before the error that ended it beside others",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func held_stream_ends() async throws {
    // In frames of 16 KiB: more than the stream holds.
    let frames = 200
    try await TLSScript.with("h2-held", ["\(frames)"]) { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        let held = try await client.send(.get(server.url))
        #expect(await eventually { client.gauges.bufferedBytes >= 768 << 10 })
        // While the first is read, libcurl takes in all that came for the held one; with the second comes its end.
        for _ in 0..<2 { try await client.expect("ok", from: .get(server.url)) }
        var count = 0
        let thrown = await failure { for try await chunk in held.body { count += chunk.count } }
        #expect(count == frames * 16384)
        #expect(thrown?.kind == .http2Stream, "\(String(describing: thrown))")
        #expect(thrown?.received == Int64(count))
        #expect(client.gauges.bufferedBytes == 0)
        // The handle that was held is fit for others.
        try await client.expect("ok", from: .get(server.url))
      }
    }
  }

  @Test(
    "a GOAWAY that took nothing is an error or a second try", .enabled(if: Tool.hasPython, "needs python3"))
  func goaway() async throws {
    try await TLSScript.with("h2-goaway") { server in
      try await TestClient.trusting { client in
        let error = await failure { try await client.send(.get(server.url)) }
        #expect(error?.kind == .connectionLost, "\(String(describing: error))")
      }
    }
  }

  @Test(
    "a connection that dies before the answer is one kind of error, fresh or kept",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"),
    arguments: ["h2-dies", "h2-dies-rudely"], [0, 1])
  func dying_connection(mode: String, good: Int) async throws {
    try await TLSScript.with(mode, ["\(good)"]) { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        for _ in 0..<good { try await client.expect("ok", from: .get(server.url)) }
        let error = await failure { try await client.send(.post(server.url, body: .string("x"))) }
        #expect(error?.kind == .connectionLost, "\(String(describing: error))")
        #expect(error?.mayHaveBeenProcessed == true)
      }
    }
  }

  @Test(
    "a connection that takes no more requests isn't used again",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func closing_connection() async throws {
    try await TLSScript.with("h2-closes") { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        // GET: an answer before the request's body has gone may end as a broken session.
        for _ in 0..<3 { try await client.expect("ok", from: .get(server.url)) }
      }
    }
  }

  @Test(
    "frames that break the session before the answer lose it",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func broken_session() async throws {
    try await TLSScript.with("h2-broken") { server in
      try await TestClient.trusting { client in
        let error = await failure { try await client.send(.get(server.url)) }
        let kinds: [HTTPError.Kind?] = [.connectionLost, .http2Framing]
        #expect(kinds.contains(error?.kind), "\(String(describing: error))")
      }
    }
  }

  @Test(
    "the end of a stream without a length can't be verified: a reset without an error may look like it",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func unverifiable_end() async throws {
    try await TLSScript.with("h2-no-error") { server in
      try await TestClient.trusting({ $0.loops = 1 }) { client in
        let open = try await client.send(.get(server.url))
        #expect(!open.body.isEndVerifiable)
        try server.process.goOn()
        let error = await failure { try await open.body.drain() }
        #expect(error == nil || error?.kind == .truncated, "\(String(describing: error))")
        let told = try await client.send(.get(server.url))
        #expect(told.body.isEndVerifiable)
        try server.process.goOn()
        let cut = await failure { try await told.body.drain() }
        #expect(cut?.kind == .truncated, "\(String(describing: cut))")
      }
    }
  }

  @Test(
    "a session that breaks inside a body without a length is an error or leaves the end unverified",
    .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func broken_body() async throws {
    try await TLSScript.with("h2-broken-body") { server in
      // libcurl waits for more on a session that is over.
      try await TestClient.trusting({ $0.timeouts.idle = .seconds(1) }) { client in
        let response = try await client.send(.get(server.url))
        try server.process.goOn()
        let error = await failure { try await response.body.drain() }
        #expect(error != nil || !response.body.isEndVerifiable)
      }
    }
  }
}
