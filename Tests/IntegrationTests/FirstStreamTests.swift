import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct FirstStreamTests {
  @Test func `a response gives its head while the body flows`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-A: 1\r\n\r\nhello"),
      .waitForSignal("rest"), .send("world"),
    ])
    let client = Client()
    let response = try await client.send(.get(server.url("/x")))
    #expect(response.status == 200)
    #expect(response.headers["x-a"] == "1")
    server.signal("rest")
    let bytes = try await response.body.collect(upTo: .mebibytes(1))
    #expect(String(decoding: bytes, as: UTF8.self) == "helloworld")
    await client.shutdown()
    await server.stop()
  }

  @Test func `a large body arrives whole`() async throws {
    let server = try ChunkServer()
    let client = Client()
    let response = try await client.send(.get(server.url("/bytes/8000000")))
    var offset: Int64 = 0
    var mismatch: Int64?
    for try await chunk in response.body {
      if mismatch == nil { mismatch = TestContent.firstMismatch(in: chunk, at: offset) }
      offset += Int64(chunk.count)
    }
    #expect(offset == 8_000_000)
    #expect(mismatch == nil)
    await client.shutdown()
    await server.stop()
  }

  @Test func `many small requests run side by side`() async throws {
    let server = try ChunkServer()
    let client = Client()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<500 {
        group.addTask {
          try await client.send(.get(server.url("/bytes/1024"))).body.collect(upTo: .kibibytes(2)).count
        }
      }
      for try await count in group { #expect(count == 1024) }
    }
    await client.shutdown()
    await server.stop()
  }

  @Test func `requests on the loop need no hop`() async throws {
    let server = try ChunkServer()
    let client = Client()
    let total = try await client.onLoop {
      var total = 0
      for _ in 0..<50 {
        total += try await client.send(.get(server.url("/bytes/100"))).body.collect(upTo: .kibibytes(2)).count
      }
      return total
    }
    #expect(total == 5000)
    await client.shutdown()
    await server.stop()
  }

  @Test func `events come in order`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: v\r\n\r\n"),
    ])
    let client = Client()
    var names: [String] = []
    for try await event in client.events(.post(server.url("/x"), body: .string("abc"))) {
      switch event {
      case .informational(let head): names.append("informational \(head.status)")
      case .redirect(let hop): names.append("redirect \(hop.status)")
      case .retry(let retry): names.append("retry \(retry.number)")
      case .uploadProgress(let progress): names.append("upload \(progress.sent)")
      case .head(let head): names.append("head \(head.status)")
      case .body(let chunk): names.append("body \(chunk.count)")
      case .progress(let progress):
        // How many there are depends on the time that passes.
        let name = "progress \(progress.received)"
        if names.last != name { names.append(name) }
      case .trailers(let fields): names.append("trailers \(fields["x-t"] ?? "")")
      case .completed(let summary): names.append("completed \(summary.received)")
      }
    }
    #expect(
      names == [
        "upload 3", "informational 103", "head 200", "body 5", "progress 5", "trailers v", "completed 5",
      ])
    await client.shutdown()
    await server.stop()
  }
}
