import Foundation
import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct UploadTests {
  private func stream(_ parts: [String]) -> AsyncStream<[UInt8]> {
    AsyncStream { continuation in
      for part in parts { continuation.yield(Array(part.utf8)) }
      continuation.finish()
    }
  }

  @Test func `a file is sent with its length`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let directory = try TemporaryDirectory()
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let path = try directory.write("body", bytes)
    try await TestClient.with { client in
      try await client.expect("ok", from: .put(server.url, body: .file(path)))
      let request = try #require(server.requests.first)
      #expect(request.value(of: "Content-Length") == "3000000")
      #expect(request.body == bytes)
    }
    await server.stop()
  }

  @Test func `a file that isn't there fails before anything is sent`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      let error = await failure { try await client.send(.put(server.url, body: .file("/nonexistent"))) }
      #expect(error?.kind == .readFailed)
      let folder = await failure { try await client.send(.put(server.url, body: .file("/tmp"))) }
      #expect(folder?.kind == .readFailed)
      #expect(server.connectionCount == 0)
    }
    await server.stop()
  }

  @Test func `a stream of unknown length goes out in chunks, of known length with it`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      try await client.expect("ok", from: .post(server.url, body: .stream(stream(["abc", "", "def"]))))
      try await client.expect(
        "ok", from: .post(server.url, body: .stream(stream(["abc", "def"]), length: 6)))
      try await client.expect("ok", from: .post(server.url, body: .stream(stream([]))))
      try await client.expect("ok", from: .post(server.url, body: .stream(stream([]), length: 0)))
      #expect(server.requests.map(\.text) == ["abcdef", "abcdef", "", ""])
      #expect(server.requests.map { $0.value(of: "Content-Length") } == [nil, "6", nil, "0"])
      #expect(server.requests[0].value(of: "Transfer-Encoding") == "chunked")
      #expect(server.connectionCount == 1)
    }
    await server.stop()
  }

  @Test("a stream of the wrong length fails the exchange", arguments: [["abc"], ["abc", "def"], []])
  func wrong_length(parts: [String]) async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with { client in
      let error = await failure {
        try await client.send(.put(server.url, body: .stream(stream(parts), length: 5)))
      }
      #expect(error?.kind == .invalidBody)
      #expect(error?.url != nil)
      // It may have failed before a connection was made.
      try await server.waitForAllClosed()
    }
    await server.stop()
  }

  @Test func `what comes behind the announced length fails the exchange`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with { client in
      let error = await failure {
        try await client.send(.put(server.url, body: .stream(stream(["hello", "x"]), length: 5)))
      }
      #expect(error?.kind == .invalidBody)
    }
    await server.stop()
  }

  @Test func `a stream that throws fails the exchange with its reason`() async throws {
    struct Broken: Error {}
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with { client in
      let broken = AsyncThrowingStream<[UInt8], any Error> { continuation in
        continuation.yield([1, 2, 3])
        continuation.finish(throwing: Broken())
      }
      let error = await failure { try await client.send(.put(server.url, body: .stream(broken))) }
      #expect(error?.kind == .readFailed)
      #expect(error?.message.contains("Broken") == true)
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `a peer that reads nothing holds the feeder`() async throws {
    final class Made: Sendable {
      let bytes = Atomic<Int>(0)
    }
    let made = Made()
    let server = try ScriptedServer(
      script: [.expectHead, .waitForSignal("read"), .expectBody, .response(body: "ok")],
      options: ServerOptions(receiveBufferSize: 16 << 10))
    try await TestClient.with { client in
      let block = [UInt8](repeating: 5, count: 64 << 10)
      let source = AsyncStream<[UInt8]> {
        guard made.bytes.load(ordering: .relaxed) < 64 << 20 else { return nil }
        made.bytes.add(block.count, ordering: .relaxed)
        return block
      }
      let call = Task { try await client.text(.put(server.url, body: .stream(source))) }
      try await server.waitForHeads(1)
      // That nothing more is asked for, no event tells: it stands still when two looks in a row, 100 ms apart, see the same.
      var last = -1
      let stands = await eventually {
        let now = made.bytes.load(ordering: .relaxed)
        defer { last = now }
        if now == last, now > 0 { return true }
        try? await Task.sleep(for: .milliseconds(100))
        return false
      }
      #expect(stands)
      // Our buffer, libcurl's and the kernel's.
      #expect(last < 16 << 20)
      server.signal("read")
      let text = try await call.value
      #expect(text == "ok")
      #expect(server.requests.first?.bodyLength == 64 << 20)
    }
    await server.stop()
  }

  @Test("an early refusal ends an upload that waits for its source", arguments: [413, 500, 302])
  func early_refusal(status: Int) async throws {
    let server = try ScriptedServer(script: [
      .expectHead, .wait(.milliseconds(50)), .response(status: status, body: "no"), .readUntilClose,
    ])
    try await TestClient.with { client in
      let (never, sink) = AsyncStream.makeStream(of: [UInt8].self)
      sink.yield([1, 2, 3])
      let response = try await client.send(.put(server.url, body: .stream(never)))
      #expect(response.status.code == status)
      #expect(try await response.body.drain() == 2)
      #expect(await eventually { client.isIdle })
      sink.finish()
    }
    await server.stop()
  }

  @Test func `an early refusal ends a large upload from memory`() async throws {
    let server = try ScriptedServer(
      script: [.expectHead, .response(status: 413, body: "no"), .readUntilClose],
      options: ServerOptions(receiveBufferSize: 16 << 10))
    try await TestClient.with { client in
      let body = RequestBody.bytes([UInt8](repeating: 1, count: 32 << 20))
      let response = try await client.send(.put(server.url, body: body))
      #expect(response.status == 413)
      #expect(try await response.body.drain() == 2)
    }
    await server.stop()
  }

  @Test func `both directions flow at once`() async throws {
    let server = try ScriptedServer(script: [
      .expectHead, .head(fields: [("Transfer-Encoding", "chunked")]), .chunk("first"), .expectBody,
      .chunk("last"), .chunk(""),
    ])
    try await TestClient.with { client in
      let (stream, sink) = AsyncStream.makeStream(of: [UInt8].self)
      let response = try await client.send(.post(server.url, body: .stream(stream)))
      var iterator = response.body.makeAsyncIterator()
      let first = try await iterator.next()
      #expect(first.map { String(decoding: $0, as: UTF8.self) } == "first")
      sink.yield([1, 2, 3])
      sink.finish()
      let last = try await iterator.next()
      #expect(last.map { String(decoding: $0, as: UTF8.self) } == "last")
      #expect(try await iterator.next() == nil)
      #expect(server.requests.first?.bodyLength == 3)
    }
    await server.stop()
  }

  @Test func `a GET may have a body, an empty POST says so`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      try await client.expect("ok", from: Request(.get, server.url, body: .string("abc")))
      try await client.expect("ok", from: .post(server.url))
      try await client.expect("ok", from: .get(server.url))
      #expect(server.requests.map(\.text) == ["abc", "", ""])
      #expect(server.requests.map { $0.value(of: "Content-Length") } == ["3", "0", nil])
      #expect(server.requests.map(\.method) == ["GET", "POST", "GET"])
    }
    await server.stop()
  }
}
