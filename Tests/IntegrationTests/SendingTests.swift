import Foundation
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct SendingTests {
  @Test func `a form of memory, file and stream arrives byte for byte`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let directory = try TemporaryDirectory()
    let content = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
    let path = try directory.write("a file.bin", content)
    try await TestClient.with { client in
      var form = MultipartForm()
      form.add("q", "ü")
      form.addFile("f", path: path)
      try await client.expect("ok", from: .post(server.url, body: .multipart(form)))
      let request = try #require(server.requests.first)
      #expect(request.value(of: "Content-Type") == form.contentType)
      #expect(request.value(of: "Content-Length") == "\(request.body.count)")
      let head =
        "\r\n--\(form.boundary)\r\nContent-Disposition: form-data; name=\"f\"; "
        + "filename=\"a file.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n"
      #expect(request.body.contains(subsequence: head.utf8))
      let tail = Array("\r\n--\(form.boundary)--\r\n".utf8)
      #expect(request.body.suffix(tail.count) == tail[...])
      #expect(request.body.dropLast(tail.count).suffix(content.count) == content[...])

      let stream = AsyncStream<[UInt8]> { continuation in
        for _ in 0..<3 { continuation.yield(Array("abc".utf8)) }
        continuation.finish()
      }
      var other = MultipartForm()
      other.parts.append(MultipartForm.Part("s", fileName: "s", body: .stream(stream)))
      try await client.expect("ok", from: .post(server.url, body: .multipart(other)))
      let chunked = try #require(server.requests.last)
      #expect(chunked.value(of: "Transfer-Encoding") == "chunked")
      #expect(chunked.text.contains("\r\n\r\nabcabcabc\r\n--"))
    }
    await server.stop()
  }

  @Test func `a part of 3 GiB has its exact length, and nothing of it is held`() async throws {
    let server = try ScriptedServer(script: [.expectHead, .response(status: 413, body: "no"), .closeAtOnce])
    let directory = try TemporaryDirectory()
    let path = try directory.write("big", [])
    #expect(truncate(path, 3 << 30) == 0)
    try await TestClient.with { client in
      var form = MultipartForm()
      form.addFile("f", path: path)
      // The refusal may be lost in the reset that follows it.
      _ = await failure { try await client.text(.post(server.url, body: .multipart(form))) }
      let request = try #require(server.requests.first)
      let length = Int64(request.value(of: "Content-Length") ?? "") ?? 0
      #expect(length > 3 << 30 && length < 3 << 30 + 1000)
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `trailers follow the chunks`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    let directory = try TemporaryDirectory()
    let path = try directory.write("body", Array("hello".utf8))
    let stream = AsyncStream<[UInt8]> { continuation in
      continuation.yield(Array("hello".utf8))
      continuation.finish()
    }
    try await TestClient.with { client in
      for body in [RequestBody.string("hello"), .file(path), .stream(stream), .empty] {
        let text = body.isEmpty ? "" : "hello"
        let request = Request.post(server.url, body: body.trailers(["X-Sum", "X-More"]) { ["X-Sum": "5"] })
        try await client.expect("ok", from: request)
        let sent = try #require(server.requests.last)
        #expect(sent.text == text)
        #expect(sent.value(of: "Trailer") == "X-Sum, X-More")
        #expect(sent.value(of: "Transfer-Encoding") == "chunked")
        #expect(sent.trailers == [RecordedField(name: "X-Sum", value: "5")])
      }
    }
    await server.stop()
  }

  @Test func `trailers that can't be are refused, before or instead of the end`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with { client in
      let early = await failure {
        try await client.send(.post(server.url, body: .string("x").trailers(["Content-Length"]) { [:] }))
      }
      #expect(early?.kind == .invalidHeader)
      #expect(server.connectionCount == 0)
      var second = Request.post(server.url, body: .string("x").trailers(["X-A"]) { [:] })
      second.version = .http2
      let version = await failure { try await client.send(second) }
      #expect(version?.kind == .invalidConfiguration)
      let late = await failure {
        try await client.send(.post(server.url, body: .string("x").trailers(["X-A"]) { ["X-B": "1"] }))
      }
      #expect(late?.kind == .invalidHeader)
      #expect(late?.message.contains("X-B") == true)
    }
    await server.stop()
  }

  @Test(
    "forms go over HTTP/2, bodies with trailers over HTTP/1.1",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"))
  func versions() async throws {
    try await NginxServer.with { server in
      try await TestClient.trusting { client in
        var form = MultipartForm()
        form.addFile("f", fileName: "f", bytes: [UInt8](repeating: 1, count: 300_000))
        // Too large for this place: the answer comes before the body is read.
        let refused = try await client.send(.post(server.http2("/small"), body: .multipart(form)))
        #expect(refused.status == 413 && refused.version == .http2)
        _ = try await refused.body.drain()
        let body = RequestBody.string("x").trailers(["X-A"]) { ["X-A": "1"] }
        let response = try await client.send(.post(server.http2("/hello"), body: body))
        #expect(response.version == .http1_1)
        _ = try await response.body.drain()
      }
    }
  }

  @Test func `a coded body arrives coded`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      var request = Request.post(server.url, body: .string(String(repeating: "abc", count: 1000)))
      request.bodyCoding = .gzip
      try await client.expect("ok", from: request)
      let small = try #require(server.requests.last)
      #expect(small.value(of: "Content-Encoding") == "gzip")
      #expect(small.body.starts(with: [0x1F, 0x8B]) && small.body.count < 100)
      #expect(small.value(of: "Content-Length") == "\(small.body.count)")
      request.body = .string(String(repeating: "abc", count: 100_000))
      try await client.expect("ok", from: request)
      let large = try #require(server.requests.last)
      #expect(large.value(of: "Transfer-Encoding") == "chunked")
      #expect(large.body.starts(with: [0x1F, 0x8B]) && large.body.count < 5000)
    }
    await server.stop()
  }

  @Test func `a coded body is coded anew for the next hop`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/a"
        ? [.response(status: 307, fields: [("Location", "/b")])] : [.response(body: "ok")]
    }
    try await TestClient.with { client in
      var request = Request.post(server.url("/a"), body: .string(String(repeating: "abc", count: 1000)))
      request.bodyCoding = .gzip
      try await client.expect("ok", from: request)
      #expect(server.requests.count == 2)
      #expect(server.requests[0].body == server.requests[1].body)
      #expect(server.requests[1].value(of: "Content-Encoding") == "gzip")
    }
    await server.stop()
  }

  @Test func `Expect waits for its own limit and then sends the body`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .response(body: "ok")])
    try await TestClient.with { client in
      var request = Request.put(server.url, body: .string("hello"))
      request.expectContinue = .milliseconds(50)
      try await client.expect("ok", from: request)
      let sent = try #require(server.requests.first)
      #expect(sent.value(of: "Expect") == "100-continue" && sent.text == "hello")
    }
    await server.stop()
  }

  @Test("a final answer to Expect is the response, and the body stays", arguments: [401, 403, 413])
  func refused(status: Int) async throws {
    let server = try ScriptedServer(script: [
      .expectHead, .response(status: status, body: "no"), .readUntilClose,
    ])
    try await TestClient.with { client in
      var request = Request.put(server.url, body: .string("hello"))
      request.expectContinue = .seconds(30)
      let response = try await client.send(request)
      #expect(response.status.code == status)
      let text = try await response.body.collect(upTo: .kibibytes(1))
      #expect(text == Array("no".utf8))
      #expect(server.requests.allSatisfy { $0.body.isEmpty })
    }
    await server.stop()
  }

  @Test("an early answer is the response", arguments: [401, 413, 500])
  func early(status: Int) async throws {
    let server = try ScriptedServer(
      script: [
        .expectHead, .response(status: status, fields: [("Connection", "close")], body: "why"),
        .readUntilClose,
      ])
    try await TestClient.with { client in
      let block = [UInt8](repeating: 1, count: 64 << 10)
      let endless = AsyncStream<[UInt8]> { block }
      let response = try await client.send(.put(server.url, body: .stream(endless)))
      #expect(response.status.code == status)
      let text = try await response.body.collect(upTo: .kibibytes(1))
      #expect(text == Array("why".utf8))
      #expect(await eventually { client.isIdle })
    }
    await server.stop()
  }

  @Test func `a rate limit holds both directions back`() async throws {
    let server = try ScriptedServer(
      script: .response(body: String(repeating: "x", count: 48 << 10)))
    try await TestClient.with { client in
      var down = Request.get(server.url)
      down.rateLimit = .perSecond(.kibibytes(64))
      let begin = ContinuousClock.now
      let text = try await client.text(down)
      #expect(text.utf8.count == 48 << 10)
      // Never faster than asked for, whatever the machine does: three quarters of a second, less the first buffer.
      #expect(ContinuousClock.now - begin > .milliseconds(400))

      var up = Request.put(server.url, body: .bytes([UInt8](repeating: 1, count: 48 << 10)))
      up.rateLimit = .perSecond(.kibibytes(64))
      let second = ContinuousClock.now
      _ = try await client.send(up)
      #expect(ContinuousClock.now - second > .milliseconds(400))
      #expect(server.requests.last?.body.count == 48 << 10)
    }
    await server.stop()
  }

  @Test func `a rate below the idle limit isn't taken for a silent peer`() async throws {
    let server = try ScriptedServer(script: .response(body: String(repeating: "x", count: 3 << 10)))
    try await TestClient.with({ $0.timeouts.idle = .milliseconds(200) }) { client in
      var request = Request.get(server.url)
      request.rateLimit = .bytesPerSecond(2 << 10)
      let text = try await client.text(request)
      #expect(text.utf8.count == 3 << 10)
    }
    await server.stop()
  }

  @Test func `upload progress is told, up to the whole`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      var form = MultipartForm()
      form.addFile("f", fileName: "f", bytes: [UInt8](repeating: 1, count: 2_000_000))
      var last: UploadProgress?
      var sent: Int64 = -1
      for try await event in client.events(.post(server.url, body: .multipart(form))) {
        if case .uploadProgress(let progress) = event {
          #expect(progress.sent > sent)
          sent = progress.sent
          last = progress
        }
      }
      #expect(last?.total == last?.sent)
      #expect((last?.sent ?? 0) > 2_000_000)
    }
    await server.stop()
  }

  @Test func `names of files beyond ASCII go out raw, their quotes escaped`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      var form = MultipartForm()
      form.parts.append(MultipartForm.Part("f", fileName: "имя \"x\".txt", body: .string("abc")))
      try await client.expect("ok", from: .post(server.url, body: .multipart(form)))
      // RFC 7578 §4.2, escaped as WHATWG HTML has it.
      let text = try #require(server.requests.first).text
      #expect(text.contains("filename=\"имя %22x%22.txt\"\r\n"))
      #expect(!text.contains("filename*"))
    }
    await server.stop()
  }
}

extension Array<UInt8> {
  fileprivate func contains(subsequence: some Collection<UInt8>) -> Bool {
    let wanted = Array(subsequence)
    guard count >= wanted.count else { return false }
    return (0...(count - wanted.count)).contains {
      self[$0] == wanted[0] && self[$0..<($0 + wanted.count)].elementsEqual(wanted)
    }
  }
}
