import Glibc
import PenstockTesting
import Testing

@Suite struct ChunkServerTests {
  private func exchange(_ server: ChunkServer, _ path: String, fields: String = "") throws -> (
    String, [UInt8]
  ) {
    let client = try RawClient(port: server.port)
    try client.get(path, fields: fields + "Connection: close\r\n")
    let head = try client.readHead()
    return (head, try client.readAll())
  }

  @Test(arguments: [0, 1, 65_520, 65_521, 65_537, 3_000_000])
  func content_is_as_documented(count: Int) async throws {
    let server = try ChunkServer()
    let (head, body) = try exchange(server, "/bytes/\(count)")
    #expect(head.contains("Content-Length: \(count)\r\n"))
    #expect(body.count == count)
    #expect(TestContent.firstMismatch(in: body, at: 0) == nil)
    await server.stop()
  }

  @Test(arguments: [1, 1000, 65_536, 100_000, 1 << 20])
  func chunks_have_the_size_asked_for(size: Int) async throws {
    let server = try ChunkServer()
    let count = size == 1 ? 1000 : 2_500_000
    let (_, framed) = try exchange(server, "/chunked/\(count)?size=\(size)")
    var body: [UInt8] = []
    var sizes: [Int] = []
    var start = 0
    while let end = framed[start...].firstIndex(of: 13) {
      let length = try #require(Int(String(decoding: framed[start..<end], as: UTF8.self), radix: 16))
      sizes.append(length)
      body += framed[(end + 2)..<(end + 2 + length)]
      start = end + 2 + length + 2
      if length == 0 { break }
    }
    #expect(start == framed.count)
    #expect(sizes.dropLast(2).allSatisfy { $0 == size })
    #expect(body.count == count)
    #expect(TestContent.firstMismatch(in: body, at: 0) == nil)
    await server.stop()
  }

  @Test func small_routes_answer_on_one_connection() async throws {
    let server = try ChunkServer()
    let client = try RawClient(port: server.port)
    func body(_ path: String, _ fields: String = "") throws -> (String, String) {
      try client.get(path, fields: fields)
      let head = try client.readHead()
      let line = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
      let length = Int(line?.dropFirst(16) ?? "0") ?? 0
      return (head, try client.readText(exactly: length))
    }
    #expect(try body("/status/503").0.hasPrefix("HTTP/1.1 503 "))
    #expect(try body("/status/204").1.isEmpty)
    #expect(try body("/headers", "X-Q: a\"b\r\n").1.contains(#"["X-Q","a\"b"]"#))
    #expect(try body("/delay/1").1 == "after 1 ms\n")
    #expect(try body("/redirect/2").0.contains("Location: /redirect/1\r\n"))
    #expect(try body("/redirect/0").1 == "arrived\n")
    #expect(try body("/nothing").0.hasPrefix("HTTP/1.1 404 "))
    for path in [
      "/bytes/x", "/bytes/-1", "/bytes/9999999999999999999", "/status/99", "/chunked/1?size=0",
      "/slow/1?rate=0",
    ] {
      #expect(try body(path).0.hasPrefix("HTTP/1.1 400 "))
    }
    try client.send(
      "HEAD /bytes/5 HTTP/1.1\r\n\r\nPOST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    )
    #expect(try client.readHead().contains("Content-Length: 5\r\n"))
    #expect(try client.readHead().contains("Content-Length: 3\r\n"))
    #expect(try client.readText(exactly: 3) == "abc")
    #expect(server.requestCount == 15)
    await server.stop()
  }

  @Test func slow_content_is_the_same() async throws {
    let server = try ChunkServer()
    let (_, body) = try exchange(server, "/slow/2000?rate=50000")
    #expect(body == TestContent.bytes(count: 2000))
    await server.stop()
  }

  @Test func events_come_in_number() async throws {
    let server = try ChunkServer()
    let (_, body) = try exchange(server, "/events?count=3&interval=1")
    let text = String(decoding: body, as: UTF8.self)
    #expect(text.contains("id: 2\nevent: tick\ndata: {\"n\":2}\n\n"))
    #expect(text.hasSuffix("0\r\n\r\n"))
    await server.stop()
  }

  @Test func cut_bodies_are_cut_and_dropped_ones_reset() async throws {
    let server = try ChunkServer()
    let (head, body) = try exchange(server, "/truncate/1000")
    #expect(head.contains("Content-Length: 1000\r\n"))
    #expect(body.count == 500)
    #expect(throws: RawClient.Failure.self) { try exchange(server, "/drop/1000") }
    await server.stop()
  }

  @Test func files_are_served_with_ranges_and_tags() async throws {
    let root = "/tmp/penstock-files-\(getpid())"
    mkdir(root, 0o700)
    let file = try #require(fopen(root + "/f", "w"))
    fputs("0123456789", file)
    fclose(file)
    defer {
      unlink(root + "/f")
      rmdir(root)
    }
    let server = try ChunkServer(root: root)
    func get(_ path: String, _ fields: String = "") throws -> (String, String) {
      let (head, body) = try exchange(server, path, fields: fields)
      return (head, String(decoding: body, as: UTF8.self))
    }
    let (head, whole) = try get("/file/f")
    #expect(whole == "0123456789")
    let line = try #require(head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
    let tag = String(line.dropFirst(6))
    #expect(try get("/file/f", "Range: bytes=2-4\r\n").0.contains("Content-Range: bytes 2-4/10\r\n"))
    #expect(try get("/file/f", "Range: bytes=2-4\r\n").1 == "234")
    #expect(try get("/file/f", "Range: bytes=7-\r\n").1 == "789")
    #expect(try get("/file/f", "Range: bytes=-2\r\n").1 == "89")
    #expect(try get("/file/f", "Range: bytes=5-99\r\n").1 == "56789")
    #expect(try get("/file/f", "Range: bytes=4-2\r\n").1 == "0123456789")
    #expect(try get("/file/f", "Range: bytes=10-\r\n").0.contains("Content-Range: bytes */10\r\n"))
    #expect(try get("/file/f", "Range: bytes=10-\r\n").0.hasPrefix("HTTP/1.1 416 "))
    #expect(try get("/file/f", "Range: bytes=2-4\r\nIf-Range: \(tag)\r\n").1 == "234")
    #expect(try get("/file/f", "Range: bytes=2-4\r\nIf-Range: \"no\"\r\n").1 == "0123456789")
    #expect(try get("/file/f", "If-None-Match: \(tag)\r\n").0.hasPrefix("HTTP/1.1 304 "))
    for path in ["/file/", "/file/no", "/file/../etc/passwd", "/file//etc/passwd", "/file/."] {
      #expect(try get(path).0.hasPrefix("HTTP/1.1 404 "))
    }
    await server.stop()
  }

  @Test func stop_lets_an_answer_end_within_the_grace_period() async throws {
    let server = try ChunkServer()
    let client = try RawClient(port: server.port)
    try client.get("/slow/4?rate=20")
    #expect(try client.readHead().hasPrefix("HTTP/1.1 200 "))
    async let stopped: Void = server.stop(gracePeriod: .seconds(10))
    #expect(try client.read(exactly: 4) == TestContent.bytes(count: 4))
    await stopped
  }
}
