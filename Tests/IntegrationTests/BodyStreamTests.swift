import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Value streams and operators over the wire.
@Suite(.timeLimit(.minutes(1))) struct BodyStreamTests {
  struct Row: Codable, Sendable, Equatable { var id: Int }

  @Test func `rows arrive while the body is still on its way`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]), .chunk("{\"id\":1}\n{\"id\""),
      .waitForSignal("more"), .chunk(":2}\n"), .chunk(""),
    ])
    try await TestClient.with { client in
      var rows = try await client.send(.get(server.url)).body.jsonLines(of: Row.self).makeAsyncIterator()
      let first = try await rows.next()
      #expect(first == Row(id: 1))
      server.signal("more")
      let second = try await rows.next()
      #expect(second == Row(id: 2))
      let end = try await rows.next()
      #expect(end == nil)
    }
    await server.stop()
  }

  @Test func `errors of records name the URL and the status`() async throws {
    let server = try ScriptedServer(script: .response(body: "nonsense\n"))
    try await TestClient.with { client in
      let error = await failure {
        for try await _ in try await client.send(.get(server.url("/rows"))).body.jsonLines(of: Row.self) {}
      }
      #expect(error?.kind == .invalidRecord)
      #expect(error?.url?.hasSuffix("/rows") == true)
      #expect(error?.status == 200)
    }
    await server.stop()
  }

  @Test func `a reader of lines that waits holds the server`() async throws {
    let line = Array((String(repeating: "x", count: 999) + "\n").utf8)
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]), .sendForever(line, chunked: true),
    ])
    try await TestClient.with({ $0.watermark = Watermark(low: 64 << 10, high: 256 << 10) }) { client in
      var lines = try await client.send(.get(server.url)).body.lines.makeAsyncIterator()
      for _ in 0..<2000 {
        let line = try await lines.next()
        #expect(line?.utf8.count == 999)
      }
      // The mark, and what one receive may bring beyond it.
      #expect(client.gauges.bufferedBytes <= (256 << 10) + (512 << 10))
    }
    await server.stop()
  }

  @Test func `one response is another request's content`() async throws {
    let from = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "3000000")]), .sendContent(count: 3_000_000),
    ])
    let to = try ScriptedServer(script: .response(status: 201))
    try await TestClient.with { client in
      let hash = BodyHash(.sha256)
      let body = try await client.send(.get(from.url)).body.hashed(by: hash)
      let answer = try await body.uploaded(by: client, as: .put(to.url("/copy")))
      #expect(answer.status == 201)
      let request = try #require(to.requests.first)
      #expect(request.method == "PUT")
      #expect(request.value(of: "Content-Length") == "3000000")
      #expect(try Digest.of(request.body, .sha256) == hash.digest)
    }
    await from.stop()
    await to.stop()
  }

  @Test func `a source that is cut fails the upload with its own error`() async throws {
    let from = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "100")]), .send("abc"),
    ])
    let to = try ScriptedServer(script: .response(status: 201))
    try await TestClient.with { client in
      let error = await failure {
        try await client.send(.get(from.url)).body.uploaded(by: client, as: .put(to.url))
      }
      #expect(error?.kind == .truncated)
    }
    await from.stop()
    await to.stop()
  }

  @Test func `ranges of a multipart response are parts`() async throws {
    let text =
      "--x\r\nContent-Range: bytes 0-1/9\r\n\r\nab\r\n--x\r\nContent-Range: bytes 4-5/9\r\n\r\nef\r\n--x--\r\n"
    let server = try ScriptedServer(
      script: .response(
        status: 206, fields: [("Content-Type", "multipart/byteranges; boundary=x")], body: text))
    try await TestClient.with { client in
      var parts: [String] = []
      for try await part in try await client.send(.get(server.url)).multipartParts() {
        let bytes = try await part.body.collect(upTo: .kibibytes(1))
        parts.append("\(part.range ?? 0...0) \(String(decoding: bytes, as: UTF8.self))")
      }
      #expect(parts == ["0...1 ab", "4...5 ef"])
      let plain = try await client.send(.get(server.url)).body.drain()
      #expect(plain == Int64(text.utf8.count))
    }
    await server.stop()
  }
}
