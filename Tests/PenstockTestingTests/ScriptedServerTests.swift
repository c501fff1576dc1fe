import Glibc
import PenstockTesting
import Testing

@Suite struct ScriptedServerTests {
  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  @Test func a_request_is_recorded_and_bytes_go_out_as_written() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .send(ok), .close])
    let client = try RawClient(port: server.port)
    try client.send(
      "POST /x?y=1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n\r\n")
    #expect(try client.readAllText() == ok)
    let request = try #require(try await server.waitForRequests(1).first)
    #expect(request.method == "POST")
    #expect(request.target == "/x?y=1")
    #expect(request.value(of: "host") == "h")
    #expect(request.text == "abc")
    #expect(request.bodyLength == 3)
    #expect(String(decoding: request.rawBody, as: UTF8.self) == "3\r\nabc\r\n0\r\nT: 1\r\n\r\n")
    #expect(request.trailers == [RecordedField(name: "T", value: "1")])
    #expect(try await server.waitForScriptEnd().error == nil)
    #expect(server.bytesSent() == Int64(ok.utf8.count))
    #expect(server.openConnectionCount == 0)
    await server.stop()
  }

  @Test func each_connection_gets_its_script_and_the_last_repeats() async throws {
    let server = try ScriptedServer(scripts: [[.send("one")], [.send("two")]])
    for expected in ["one", "two", "two"] {
      let client = try RawClient(port: server.port)
      #expect(try client.readAllText() == expected)
    }
    #expect(server.connectionCount == 3)
    await server.stop()
  }

  @Test func the_body_can_be_left_until_the_server_asks_for_it() async throws {
    let server = try ScriptedServer(script: [
      .expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBody, .send(ok),
    ])
    let client = try RawClient(port: server.port)
    try client.send("PUT / HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    #expect(try await server.waitForHeads(1)[0].completion == nil)
    #expect(try client.readText(exactly: 25) == "HTTP/1.1 100 Continue\r\n\r\n")
    try client.send("body")
    #expect(try client.readAllText() == ok)
    #expect(try await server.waitForRequests(1)[0].text == "body")
    await server.stop()
  }

  @Test func respond_each_keeps_the_connection_and_takes_pipelined_requests() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let client = try RawClient(port: server.port)
    try client.get("/1")
    #expect(try client.readText(exactly: ok.utf8.count) == ok)
    try client.send("GET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n\r\n")
    #expect(try client.readText(exactly: 2 * ok.utf8.count) == ok + ok)
    client.close()
    #expect(try await server.waitForScriptEnd().error == nil)
    #expect(server.requests.map(\.target) == ["/1", "/2", "/3"])
    #expect(server.connectionCount == 1)
    await server.stop()
  }

  @Test func steps_can_be_chosen_for_each_request() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/bye" ? [.send("bye"), .close] : [.chunked(["a", "bc"], trailers: [("T", "1")])]
    })
    let client = try RawClient(port: server.port)
    try client.get("/")
    let expected =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\nT: 1\r\n\r\n"
    #expect(try client.readText(exactly: expected.utf8.count) == expected)
    try client.get("/bye")
    #expect(try client.readAllText() == "bye")
    await server.stop()
  }

  @Test func a_signal_releases_a_waiting_script_before_or_after() async throws {
    let server = try ScriptedServer(script: [
      .waitForSignal("early"), .send("a"), .waitForSignal("late"), .send("b"), .waitForSignal("open"),
      .waitForSignal("open"), .send("c"),
    ])
    server.signal("early")
    let client = try RawClient(port: server.port)
    #expect(try client.readText(exactly: 1) == "a")
    server.signal("late")
    #expect(try client.readText(exactly: 1) == "b")
    server.open("open")
    #expect(try client.readAllText() == "c")
    await server.stop()
  }

  @Test(
    "a peer that closes or resets is noticed while the server waits",
    arguments: [
      [Step.stall], [.wait(.seconds(3600))], [.drip([1, 2, 3], size: 1, every: .seconds(3600))],
      [.waitForSignal("never")], [.expectRequest], [.readUntilClose], [.respondEach([])],
      [.readSlowly(size: 1, every: .milliseconds(1))],
    ], [false, true])
  func peer_close_is_noticed(steps: [Step], reset: Bool) async throws {
    let server = try ScriptedServer(script: Script(steps))
    let client = try RawClient(port: server.port)
    try await server.waitForConnections(1)
    // A close with unread bytes would be a reset.
    if case .drip = steps[0] { _ = try client.read(exactly: 1) }
    let before = ContinuousClock.now
    if reset { client.reset() } else { client.close() }
    let seen = try await server.waitForPeerClose()
    #expect(seen >= before)
    let record = try await server.waitForScriptEnd()
    #expect(record.wasReset == reset)
    await server.stop()
  }

  @Test func a_half_closed_peer_can_be_tolerated() async throws {
    let server = try ScriptedServer(
      script: Script([.wait(.milliseconds(20)), .send("still here")], toleratesHalfClose: true))
    let client = try RawClient(port: server.port)
    client.endSending()
    #expect(try client.readAllText() == "still here")
    await server.stop()
  }

  @Test func the_server_can_reset() async throws {
    let server = try ScriptedServer(script: [.expectBytes(3), .reset])
    let client = try RawClient(port: server.port)
    try client.send("abc")
    #expect(throws: RawClient.Failure.self) { try client.readAll() }
    #expect(try await server.waitForScriptEnd().error == nil)
    await server.stop()
  }

  @Test func after_its_half_close_the_server_still_reads() async throws {
    let server = try ScriptedServer(script: [.send("x"), .halfClose, .expectBytes(5)])
    let client = try RawClient(port: server.port)
    #expect(try client.readAllText() == "x")
    try client.send("hello")
    #expect(try await server.waitForScriptEnd().error == nil)
    #expect(server.bytesReceived() == 5)
    await server.stop()
  }

  @Test func a_graceful_close_does_not_destroy_what_was_sent() async throws {
    let server = try ScriptedServer(script: [.expectBytes(1), .send(ok), .close])
    let client = try RawClient(port: server.port)
    try client.send([UInt8](repeating: 7, count: 100_000))
    client.endSending()
    #expect(try client.readAllText() == ok)
    await server.stop()
  }

  @Test func drip_sends_all_in_order() async throws {
    let server = try ScriptedServer(script: [
      .drip(Array("0123456789".utf8), size: 3, every: .milliseconds(1))
    ])
    let client = try RawClient(port: server.port)
    #expect(try client.readAllText() == "0123456789")
    await server.stop()
  }

  @Test func repeats_a_number_of_times() async throws {
    let server = try ScriptedServer(script: [.repeatSteps(times: 3, [.send("a"), .chunk("b")]), .send("!")])
    let client = try RawClient(port: server.port)
    #expect(try client.readAllText() == "a1\r\nb\r\na1\r\nb\r\na1\r\nb\r\n!")
    await server.stop()
  }

  @Test func generated_content_is_right_and_a_peer_that_does_not_read_blocks_it() async throws {
    let server = try ScriptedServer(
      script: [.sendContent(count: 8 << 20)], options: ServerOptions(sendBufferSize: 64 << 10))
    let client = try RawClient(port: server.port)
    try await server.waitForSendBlocked()
    #expect(server.bytesSent() < 8 << 20)
    let bytes = try client.readAll()
    #expect(bytes.count == 8 << 20)
    #expect(TestContent.firstMismatch(in: bytes, at: 0) == nil)
    let record = try await server.waitForScriptEnd()
    #expect(record.wasSendBlocked && !record.isSendBlocked)
    await server.stop()
  }

  @Test func an_endless_body_ends_when_the_peer_goes() async throws {
    let server = try ScriptedServer(script: [.sendForever(Array("abc".utf8), chunked: true)])
    let client = try RawClient(port: server.port)
    #expect(try client.readText(exactly: 16) == "3\r\nabc\r\n3\r\nabc\r\n")
    client.close()
    #expect(try await server.waitForScriptEnd().error == nil)
    #expect(server.connections[0].wasReset)
    await server.stop()
  }

  @Test func events_are_told_in_order_from_the_start() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let client = try RawClient(port: server.port)
    try client.get("/")
    _ = try client.readText(exactly: ok.utf8.count)
    client.close()
    try await server.waitForScriptEnd()
    await server.stop()
    var names: [String] = []
    for await event in server.events() {
      let name =
        switch event {
        case .accepted: "accepted"
        case .head: "head"
        case .request: "request"
        case .peerClosed(_, let reset): reset ? "reset" : "closed"
        case .sendBlocked, .sendResumed: "blocked"
        case .scriptEnded: "ended"
        }
      names.append(name)
    }
    #expect(names == ["accepted", "head", "request", "closed", "ended"])
  }

  @Test func waits_end_by_time_cancellation_and_stop() async throws {
    let server = try ScriptedServer(script: [.stall])
    await #expect(throws: TestServerError.timedOut(waitingFor: "1 requests")) {
      try await server.waitForRequests(1, timeout: .milliseconds(5))
    }
    let cancelled = Task { try await server.waitForRequests(1) }
    cancelled.cancel()
    await #expect(throws: TestServerError.cancelled) { try await cancelled.value }
    let stopped = Task { try await server.waitForRequests(1) }
    await server.stop()
    await #expect(throws: TestServerError.stopped) { try await stopped.value }
  }

  @Test func bad_arguments_are_typed_errors() async throws {
    #expect(throws: TestServerError.invalidArgument("scripts")) { try ScriptedServer(scripts: []) }
    #expect(throws: TestServerError.invalidArgument("sendBufferSize")) {
      try ScriptedServer(script: [], options: ServerOptions(sendBufferSize: 0))
    }
    let path = String(repeating: "x", count: 200)
    #expect(throws: TestServerError.invalidArgument("unixSocket path")) {
      try ScriptedServer(script: [], options: ServerOptions(address: .unixSocket(path: path)))
    }
    let server = try ScriptedServer(script: [.drip([1], size: 0, every: .zero)])
    _ = try RawClient(port: server.port)
    #expect(try await server.waitForScriptEnd().error == .invalidArgument("size"))
    await server.stop()
  }

  @Test func listens_on_a_unix_socket_and_removes_it() async throws {
    let path = "/tmp/penstock-test-\(getpid()).sock"
    let server = try ScriptedServer(
      script: .response(body: "ok"), options: ServerOptions(address: .unixSocket(path: path)))
    let client = try RawClient(path: path)
    try client.get("/")
    #expect(try client.readText(exactly: ok.utf8.count) == ok)
    await server.stop()
    #expect(access(path, F_OK) != 0)
  }
}
