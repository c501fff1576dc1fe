import PenstockTesting
import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct DownloadTests {
  @Test(arguments: ["/bytes/9000001", "/chunked/5000001?size=70000", "/bytes/1", "/bytes/4096"])
  func `a file holds what the server sent`(path: String) async throws {
    let folder = try TestFolder()
    let server = try ChunkServer()
    let client = Client()
    let download = client.download(.get(server.url(path)), to: .file(folder("f")))
    let file = try await download.value
    let bytes = try #require(folder.read("f"))
    #expect(file.path == folder("f"))
    #expect(file.bytes == Int64(bytes.count))
    #expect(path.contains("\(bytes.count)"))
    #expect(ContentCheck.matches(bytes))
    #expect(file.head.status == 200)
    #expect(file.isEndVerified)
    #expect(folder.names == ["f"])
    await client.shutdown()
    await server.stop()
  }

  @Test func `a digest is computed on the way`() async throws {
    let folder = try TestFolder()
    let server = try ChunkServer()
    let client = Client()
    let file = try await client.download(
      .get(server.url("/bytes/300000")), to: .file(folder("f")), DownloadOptions(digest: .sha256)
    ).value
    #expect(file.digest == (try Digest.of(TestContent.bytes(count: 300_000), .sha256)))
    await client.shutdown()
    await server.stop()
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ])
  func `an empty body is an empty file`(answer: String) async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(script: [.expectRequest, .send(answer)])
    let client = Client()
    let file = try await client.download(.get(server.url("/x")), to: .file(folder("f"))).value
    #expect(file.bytes == 0)
    #expect(folder.read("f") == [])
    #expect(folder.names == ["f"])
    await client.shutdown()
    await server.stop()
  }

  @Test func `a coding on the wire stays on, and none is asked for`() async throws {
    let folder = try TestFolder()
    let body: [UInt8] = [0x1F, 0x8B, 8, 0, 1, 2, 3]
    let server = try ScriptedServer(script: [
      .respondEach([
        .response(
          fields: [("Content-Encoding", "gzip"), ("Content-Type", "application/octet-stream")], bytes: body)
      ])
    ])
    let client = Client()
    _ = try await client.download(.get(server.url("/x.tar.gz")), to: .file(folder("f"))).value
    #expect(folder.read("f") == body)
    let request = try #require(server.requests.first)
    #expect(
      request.fields.filter { $0.name.lowercased() == "accept-encoding" }.map { $0.value } == ["identity"])
    await client.shutdown()
    await server.stop()
  }

  @Test func `a body without a known length has no total`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"),
    ])
    let client = Client()
    let download = client.download(.get(server.url("/x")), to: .file(folder("f")))
    var last = TransferProgress()
    for await event in download.events {
      if case .started(let start) = event { #expect(start.total == nil) }
      if case .progress(let progress) = event { last = progress }
    }
    #expect(last.total == nil)
    #expect(last.fraction == nil)
    #expect(last.received == 5)
    #expect(try await download.value.isEndVerified == false)
    await client.shutdown()
    await server.stop()
  }

  @Test(
    arguments: [
      ("attachment; filename=\"../../x.iso\"", "x.iso"), ("attachment; filename*=UTF-8''%e2%82%ac", "€"),
      ("attachment; filename=\".\"", "last part"), ("inline", "last part"),
    ])
  func `a folder takes the name from the answer`(field: String, name: String) async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(
      script: .response(fields: [("Content-Disposition", field)], body: "hello"))
    let client = Client()
    let target = DownloadTarget.directory(folder.path)
    let file = try await client.download(.get(server.url("/a/last%20part?x=/y")), to: target).value
    #expect(file.path == folder(name))
    #expect(folder.names == [name])
    await client.shutdown()
    await server.stop()
  }

  @Test func `the name comes from the URL that answered`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer { request in
      request.target == "/old"
        ? [.response(status: 302, fields: [("Location", "/new.bin")])] : [.response(body: "hello")]
    }
    let client = Client()
    let file = try await client.download(.get(server.url("/old")), to: .directory(folder.path + "/")).value
    #expect(file.path == folder("new.bin"))
    #expect(file.url == server.url("/new.bin"))
    await client.shutdown()
    await server.stop()
  }

  @Test func `what is there is kept, numbered or replaced`() async throws {
    let folder = try TestFolder()
    folder.write("old", to: "f.x")
    let server = try ScriptedServer(script: .response(body: "new"))
    let client = Client()
    func load(_ overwrite: DownloadOptions.Overwrite) async throws -> String {
      try await client.download(
        .get(server.url("/f")), to: .file(folder("f.x")), DownloadOptions(overwrite: overwrite)
      ).value.path
    }
    let error = await #expect(throws: HTTPError.self) { try await load(.never) }
    #expect(error?.kind == .fileExists)
    #expect(error?.code == 23)
    #expect(server.connectionCount == 0, "this is known before the request")
    #expect(try await load(.rename) == folder("f (1).x"))
    #expect(try await load(.rename) == folder("f (2).x"))
    #expect(folder.text("f.x") == "old")
    #expect(try await load(.replace) == folder("f.x"))
    #expect(folder.text("f.x") == "new")
    #expect(folder.names == ["f (1).x", "f (2).x", "f.x"])
    await client.shutdown()
    await server.stop()
  }

  @Test func `two at once to one name: one has it, or they are numbered`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer { _ in
      [.head(fields: [("Content-Length", "5")]), .waitForSignal("body"), .send("hello")]
    }
    let client = Client()
    func download(_ overwrite: DownloadOptions.Overwrite) async -> Download {
      let download = client.download(
        .get(server.url("/f")), to: .file(folder("f")), DownloadOptions(overwrite: overwrite))
      for await event in download.events { if case .started = event { break } }
      return download
    }
    let first = await download(.replace)
    let error = await #expect(throws: HTTPError.self) { try await download(.replace).value }
    #expect(error?.kind == .writeFailed)
    let third = await download(.rename)
    server.open("body")
    #expect(try await first.value.path == folder("f"))
    #expect(try await third.value.path == folder("f (1)"))
    #expect(folder.names == ["f", "f (1)"])
    await client.shutdown()
    await server.stop()
  }
}
