import Foundation
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ReuseTests {
  /// Answers one request on each connection and closes a kept connection as soon as the next request comes.
  private func stale() throws -> ScriptedServer {
    try ScriptedServer(script: [.expectRequest, .response(body: "ok"), .expectHead, .closeAtOnce])
  }

  private static let bodies: [(String, @Sendable (String) -> RequestBody)] = [
    ("bytes", { _ in .bytes([UInt8](repeating: 7, count: 1000)) }),
    ("many bytes", { _ in .bytes([UInt8](repeating: 7, count: 3_000_000)) }),
    ("file", { .file($0) }),
    (
      "replayable stream",
      { _ in
        .replayableStream(length: 6) {
          AsyncStream { continuation in
            continuation.yield(Array("abc".utf8))
            continuation.yield(Array("def".utf8))
            continuation.finish()
          }
        }
      }
    ),
  ]

  @Test(
    "a request that may be repeated survives a kept connection that dies",
    arguments: [HTTPMethod.get, .head, .put, .delete, .options])
  func repeatable_methods(method: HTTPMethod) async throws {
    let server = try stale()
    try await TestClient.with { client in
      for _ in 0..<10 {
        let response = try await client.send(Request(method, server.url))
        #expect(response.status == 200)
        _ = try await response.body.drain()
      }
    }
    await server.stop()
  }

  @Test func `a connection closed right at its reuse is never seen by the caller`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .response(body: "ok"), .wait(.milliseconds(3)), .closeAtOnce,
    ])
    try await TestClient.with { client in
      let methods = [HTTPMethod.get, .head, .put, .delete, .options]
      for round in 0..<500 {
        let response = try await client.send(Request(methods[round % methods.count], server.url))
        #expect(response.status == 200)
        _ = try await response.body.drain()
        // Every other time about when the server closes, which is what it is about; else before.
        if round % 2 == 0 { try await Task.sleep(for: .milliseconds(3)) }
      }
    }
    await server.stop()
  }

  /// Handles are used again, and what a URL had that the next one lacks must not stay with them.
  @Test func `each request asks for its own target, sent again or not`() async throws {
    let server = try stale()
    var paths = ["/", "/a", "/a/b?c=1", "/a", "/?x", "/%2F%c3%bc", "/a?%41", "/b//c;d?e?f", "/..;/g"]
    paths += paths.reversed()
    try await TestClient.with { client in
      for path in paths { try await client.expect("ok", from: .get(server.url(path))) }
    }
    await server.stop()
    var answered: [String] = []
    // The first of each connection is answered; the last that one saw comes again on the next.
    for request in server.requests where request.target != answered.last || request.connection == 0 {
      answered.append(request.target)
    }
    var expected: [String] = []
    for path in paths where path != expected.last { expected.append(path) }
    #expect(answered == expected)
    #expect(server.requests.count > paths.count)
    let host = String(server.url.dropFirst("http://".count))
    #expect(server.requests.allSatisfy { $0.fields.first { $0.name == "Host" }?.value == host })
  }

  @Test func `a POST on a connection that dies unanswered isn't sent twice`() async throws {
    let server = try stale()
    try await TestClient.with { client in
      try await client.expect("ok", from: .get(server.url))
      let error = await failure { try await client.send(.post(server.url, body: .string("abc"))) }
      #expect(error?.kind == .connectionLost || error?.kind == .emptyReply || error?.kind == .receiveFailed)
      #expect(error?.mayHaveBeenProcessed == true)
      #expect(server.requests.count { $0.method == "POST" } == 1)
    }
    await server.stop()
  }

  @Test func `a POST that may be repeated is`() async throws {
    let server = try stale()
    try await TestClient.with { client in
      try await client.expect("ok", from: .get(server.url))
      var request = Request.post(server.url, body: .string("abc"))
      request.mayReplayUnsafe = true
      try await client.expect("ok", from: request)
    }
    await server.stop()
  }

  @Test func `connections that die one after another are met three times at most`() async throws {
    // Every connection answers once and dies with its second request; the last of them never answers.
    let server = try ScriptedServer(script: [
      .expectRequest, .response(body: "ok"), .expectHead, .closeAtOnce,
    ])
    let dead = try ScriptedServer(script: [.expectHead, .closeAtOnce])
    try await TestClient.with { client in
      // Several kept connections, all stale.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { try await client.expect("ok", from: .get(server.url)) } }
        try await group.waitForAll()
      }
      let before = server.requests.count
      let error = await failure { try await client.expect("ok", from: .get(server.url)) }
      // It came through on a new connection, or was given up after its last chance; never more than four sends.
      if let error {
        #expect(error.kind == .connectionLost && error.mayHaveBeenProcessed)
      }
      #expect(server.requests.count - before <= 4)
      // A new connection that dies isn't a stale one: nothing is tried again by itself.
      let fresh = await failure { try await client.text(.get(dead.url)) }
      #expect(fresh?.kind == .emptyReply)
      #expect(dead.connectionCount == 1)
      #expect(fresh?.mayHaveBeenProcessed == true)
    }
    await server.stop()
    await dead.stop()
  }

  @Test("a PUT is sent anew from each kind of body that can be", arguments: 0..<4)
  func replayed_put(index: Int) async throws {
    let (_, make) = Self.bodies[index]
    let directory = try TemporaryDirectory()
    let file = try directory.write("body", [UInt8](repeating: 9, count: 5000))
    // The body of the second request is taken whole before the connection dies.
    let server = try ScriptedServer(scripts: [
      [.expectRequest, .response(body: "ok"), .expectRequest, .closeAtOnce], .response(body: "ok"),
    ])
    try await TestClient.with({ $0.timeouts.idle = .seconds(5) }) { client in
      try await client.expect("ok", from: .get(server.url))
      try await client.expect("ok", from: .put(server.url, body: make(file)))
      let puts = server.requests.filter { $0.method == "PUT" }
      #expect(puts.count == 2)
      #expect(puts.first?.body == puts.last?.body)
      #expect(puts.last?.bodyLength ?? 0 > 0)
      // The handle that was rewound serves on.
      try await client.expect("ok", from: .put(server.url, body: make(file)))
    }
    await server.stop()
  }

  @Test func `a PUT from a one-shot stream fails with a typed error and spoils nothing`() async throws {
    let server = try ScriptedServer(scripts: [
      [.expectRequest, .response(body: "ok"), .expectRequest, .closeAtOnce], .response(body: "ok"),
    ])
    try await TestClient.with { client in
      try await client.expect("ok", from: .get(server.url))
      let stream = AsyncStream { continuation in
        continuation.yield(Array("abc".utf8))
        continuation.finish()
      }
      let error = await failure { try await client.send(.put(server.url, body: .stream(stream))) }
      #expect(
        error?.kind == .bodyNotReplayable || error?.kind == .emptyReply || error?.kind == .connectionLost)
      for _ in 0..<3 {
        try await client.expect("ok", from: .put(server.url, body: .string("abc")))
      }
    }
    await server.stop()
  }

  @Test(
    "the rest of a body that nobody wants is never read to its end", arguments: [200, 1 << 30, Int64.max])
  func unread_rest(rest: Int64) async throws {
    let server = try ScriptedServer(respond: { request in
      guard request.target == "/rest" else { return [.response(body: "next")] }
      if rest == .max {
        return [
          .head(fields: [("Transfer-Encoding", "chunked")]),
          .sendForever([UInt8](repeating: 120, count: 16384), chunked: true),
        ]
      }
      return [
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(rest + 5)\r\n\r\nfirst"), .waitForSignal("rest"),
        .sendContent(count: rest),
      ]
    })
    try await TestClient.with { client in
      var iterator: ResponseBody.Iterator? =
        try await client.send(.get(server.url("/rest"))).body.makeAsyncIterator()
      _ = try await iterator?.next()
      iterator = nil
      server.signal("rest")
      try await client.expect("next", from: .get(server.url("/next")))
      try await server.waitForPeerClose()
      #expect(server.bytesSent() < 64 << 20)
    }
    await server.stop()
  }

  @Test func `connections are kept and reused`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      for _ in 0..<20 {
        let text = try await client.text(.get(server.url))
        #expect(text == "ok")
      }
      #expect(server.connectionCount == 1)
      let response = try await client.send(.get(server.url))
      #expect(response.facts.connection.reused)
      _ = try await response.body.drain()
    }
    await server.stop()
  }

  /// Waits until so many bytes were sent on a connection: on loopback they are there then.
  private func untilSent(_ count: Int64, _ server: ScriptedServer, connection: Int) async {
    #expect(await eventually { server.bytesSent(connection: connection) >= count })
  }

  @Test func `what a server sends unasked is no answer to the next request`() async throws {
    let server = try ScriptedServer(scripts: [
      [
        .expectRequest, .response(body: "ok"), .waitForSignal("late"), .response(body: "evil"),
        .readUntilClose,
      ],
      // A body behind the head of an answer that has none (RFC 9110 §9.3.2).
      [
        .expectRequest, .response(bytes: [UInt8](repeating: 120, count: 1 << 20)), .waitForSignal("later"),
        .send("rest"), .readUntilClose,
      ],
      [.repeatSteps(times: nil, [.expectRequest, .response(body: "ok")])],
    ])
    try await TestClient.with { client in
      try await client.expect("ok", from: .get(server.url))
      let first = server.bytesSent()
      server.open("late")
      await untilSent(first + 10, server, connection: 0)
      let head = try await client.send(Request(.head, server.url))
      #expect(try await head.body.drain() == 0)
      #expect(!head.facts.connection.reused)
      server.open("later")
      await untilSent((1 << 20) + 5, server, connection: 1)
      for _ in 0..<3 { try await client.expect("ok", from: .get(server.url)) }
      #expect(server.connections.count == 3)
      try await server.waitForPeerClose(connection: 0)
      try await server.waitForPeerClose(connection: 1)
    }
    await server.stop()
  }

  @Test("a body of any kind goes whole to another connection than one that spoke unasked", arguments: 0..<5)
  func body_to_another_connection(index: Int) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("body", [UInt8](repeating: 9, count: 5000))
    let server = try ScriptedServer(scripts: [
      [.expectRequest, .response(body: "ok"), .send("HTTP/1.1 408 Too Late\r\n\r\n"), .readUntilClose],
      .response(body: "ok"),
    ])
    try await TestClient.with { client in
      try await client.expect("ok", from: .get(server.url))
      await untilSent(60, server, connection: 0)
      let stream = AsyncStream { continuation in
        continuation.yield(Array("abc".utf8))
        continuation.finish()
      }
      let body = index < 4 ? Self.bodies[index].1(file) : .stream(stream)
      // Nothing was sent on the first: no method and no body keeps it from the second.
      let response = try await client.send(.post(server.url, body: body))
      #expect(response.status == 200 && !response.facts.connection.reused)
      _ = try await response.body.drain()
      #expect(server.requests.count { $0.method == "POST" } == 1)
      #expect(server.requests.last?.bodyLength ?? 0 > 0)
    }
    await server.stop()
  }

  @Test func `many kept connections that spoke unasked are all given up`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .response(body: "ok"), .waitForSignal("late"), .response(body: "evil"), .readUntilClose,
    ])
    try await TestClient.with { client in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { try await client.expect("ok", from: .get(server.url)) } }
        try await group.waitForAll()
      }
      let count = server.connectionCount
      server.open("late")
      // Both answers, of 40 and 42 bytes: what is still on its way when a request goes out can't be told from its answer.
      for index in 0..<count { await untilSent(82, server, connection: index) }
      // The script of a new connection sends both at once, so it serves once.
      for _ in 0..<3 {
        try await client.expect("ok", from: .get(server.url))
        await untilSent(82, server, connection: server.connectionCount - 1)
      }
      for index in 0..<count { try await server.waitForPeerClose(connection: index) }
    }
    await server.stop()
  }

  @Test("the same under TLS", .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func unasked_under_tls() async throws {
    try await TLSScript.with("unasked") { server in
      try await TestClient.trusting { client in
        for _ in 0..<5 {
          try await client.expect("ok", from: .get(server.url))
          try server.process.goOn()
          _ = try await server.process.line("unasked")
        }
      }
    }
  }

  @Test func `the same over a Unix socket`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("socket")
    let server = try ScriptedServer(
      script: [
        .expectRequest, .response(body: "ok"), .waitForSignal("late"), .response(body: "evil"), .stall,
      ],
      options: ServerOptions(address: .unixSocket(path: path)))
    try await TestClient.with { client in
      var request = Request.get("http://localhost/")
      request.addressing = Addressing()
      request.addressing?.unixSocket = path
      for index in 0..<4 {
        try await client.expect("ok", from: request)
        let sent = server.bytesSent(connection: index)
        server.signal("late")
        await untilSent(sent + 10, server, connection: index)
      }
    }
    await server.stop()
  }

  @Test func `large bodies one after another arrive whole, each on the connection of the last`() async throws
  {
    let server = try ChunkServer()
    try await TestClient.with { client in
      for round in 0..<12 {
        let response = try await client.send(.get(server.url("/bytes/8m")))
        #expect(response.facts.connection.reused == (round > 0))
        let count = try await response.body.drain()
        #expect(count == 8 << 20)
      }
    }
    await server.stop()
  }
}
