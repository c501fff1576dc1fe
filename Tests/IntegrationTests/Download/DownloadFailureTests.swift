import Glibc
import PenstockTestSupport
import PenstockTesting
import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct DownloadFailureTests {
  /// Targets that can't be, which is known before the request.
  @Test(
    arguments: [
      ("/", "folder"), ("missing/f", "No such"), ("file/f", "Not a directory"), ("", "no name"),
      ("sub/", "folder"), ("sub", "folder"), ("link", "folder"),
      (String(repeating: "x", count: 250), "too long"),
      ("a\u{0}b", "zero byte"), ("pipe", "regular"), ("sub\u{0}/f", "zero byte"),
    ])
  func `a target that can't be fails before the request`(name: String, reason: String) async throws {
    let folder = try TestFolder()
    folder.write("old", to: "file")
    mkdir(folder("sub"), 0o700)
    symlink(folder("sub"), folder("link"))
    mkfifo(folder("pipe"), 0o600)
    defer { rmdir(folder("sub")) }
    let server = try ScriptedServer(script: .response(body: "new"))
    let client = Client()
    let path = name.isEmpty ? "" : folder(name)
    let error = await #expect(throws: HTTPError.self) {
      try await client.download(
        .get(server.url("/f")), to: .file(path), DownloadOptions(overwrite: .replace)
      ).value
    }
    #expect(error?.kind == .writeFailed)
    #expect(error?.phase == .file)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    #expect(error?.url == server.url("/f"))
    #expect(server.connectionCount == 0)
    #expect(folder.names == ["file", "link", "pipe", "sub"])
    #expect(folder.text("file") == "old")
    await client.shutdown()
    await server.stop()
  }

  @Test(arguments: ["missing", "file", "a\u{0}b"])
  func `a folder that is none fails before the request`(name: String) async throws {
    let folder = try TestFolder()
    folder.write("old", to: "file")
    let server = try ScriptedServer(script: .response(body: "new"))
    let client = Client()
    let error = await #expect(throws: HTTPError.self) {
      try await client.download(.get(server.url("/f")), to: .directory(folder(name))).value
    }
    #expect(error?.kind == .writeFailed)
    #expect(server.connectionCount == 0)
    await client.shutdown()
    await server.stop()
  }

  /// No file can be made in /proc/self, whoever asks.
  @Test func `an unwritable folder is a typed error`() async throws {
    let server = try ScriptedServer(script: .response(body: "new"))
    let client = Client()
    let error = await #expect(throws: HTTPError.self) {
      try await client.download(.get(server.url("/f")), to: .file("/proc/self/f")).value
    }
    #expect(error?.kind == .writeFailed)
    #expect(error?.code == 23)
    await client.shutdown()
    await server.stop()
  }

  @Test func `a status outside 2xx touches no file and says what the server says`() async throws {
    let folder = try TestFolder()
    folder.write("old", to: "f")
    folder.write("rest", to: "f.part")
    let body = "No such\r\n\u{1b}[31mthing\u{202E}" + String(repeating: " word", count: 4000)
    let server = try ScriptedServer(script: .response(status: 404, body: body))
    let client = Client()
    let download = client.download(
      .get(server.url("/f")), to: .file(folder("f")), DownloadOptions(overwrite: .replace))
    let error = await #expect(throws: HTTPError.self) { try await download.value }
    #expect(error?.kind == .httpStatus)
    #expect(error?.status == 404)
    #expect(error?.code == 22)
    let message = error?.message ?? ""
    #expect(message.contains("404 Not Found: No such [31mthing word"))
    #expect(message.utf8.count < 1200)
    #expect(folder.text("f") == "old")
    #expect(folder.text("f.part") == "rest")
    var names: [String] = []
    for await event in download.events {
      if case .failed = event { names.append("failed") } else { names.append("?") }
    }
    #expect(names == ["failed"])
    await client.shutdown()
    await server.stop()
  }

  @Test func `an error page that doesn't come holds nothing back`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nhalf a page"), .stall,
    ])
    let client = Client()
    var options = DownloadOptions()
    options.retry = .none
    let once = options
    let error = await #expect(throws: HTTPError.self) {
      try await client.download(.get(server.url("/f")), to: .file(folder("f")), once).value
    }
    #expect(error?.status == 500)
    #expect(error?.message.contains("half a page") == true)
    #expect(folder.names.isEmpty)
    await client.shutdown(.immediate)
    await server.stop()
  }

  @Test func `a part that nobody asked for is no file`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(
      script: .response(status: 206, fields: [("Content-Range", "bytes 0-4/10")], body: "hello"))
    let client = Client()
    let error = await #expect(throws: HTTPError.self) {
      try await client.download(.get(server.url("/f")), to: .file(folder("f"))).value
    }
    #expect(error?.kind == .malformedResponse)
    #expect(folder.names.isEmpty)
    var request = Request.get(server.url("/f"))
    request.headers.append("Range", "bytes=0-4")
    _ = try await client.download(request, to: .file(folder("f"))).value
    #expect(folder.text("f") == "hello")
    await client.shutdown()
    await server.stop()
  }

  @Test(
    arguments: [
      ("/truncate/5000000", HTTPError.Kind.truncated), ("/drop/5000000", .receiveFailed),
    ])
  func `a body that is cut leaves nothing`(path: String, kind: HTTPError.Kind) async throws {
    let folder = try TestFolder()
    folder.write("old", to: "f")
    let server = try ChunkServer()
    let client = Client()
    let download = client.download(
      .get(server.url(path)), to: .file(folder("f")), DownloadOptions(overwrite: .replace))
    let error = await #expect(throws: HTTPError.self) { try await download.value }
    #expect(error?.kind == kind)
    #expect(error?.status == 200)
    #expect(folder.text("f") == "old")
    #expect(folder.names == ["f"])
    await client.shutdown()
    await server.stop()
  }

  @Test(arguments: [(ENOSPC, HTTPError.Kind.diskFull), (EDQUOT, .diskFull), (EIO, .diskFailed)])
  func `a disk that fails midway is named and keeps the part`(
    number: Int32, kind: HTTPError.Kind
  ) async throws {
    let folder = try TestFolder()
    let server = try ChunkServer()
    let client = Client()
    let disk = TestDisk()
    disk.set { $0.failure = (number, 3 << 20) }
    let download = client.download(
      .get(server.url("/bytes/20000000")), to: .file(folder("f")), calls: disk.calls)
    let error = await #expect(throws: HTTPError.self) { try await download.value }
    #expect(error?.kind == kind)
    #expect(error?.phase == .file)
    #expect(error?.code == 23)
    #expect(error?.url == server.url("/bytes/20000000"))
    #expect((error?.received ?? 0) >= 3 << 20)
    #expect(folder.names == ["f.part"])
    let part = try #require(folder.read("f.part"))
    #expect(part.count >= 3 << 20)
    #expect(ContentCheck.matches(part))
    await client.shutdown()
    await server.stop()
  }

  @Test func `too little space is known before the body`() async throws {
    let folder = try TestFolder()
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Length", "1000000000000000")]), .stall,
    ])
    let client = Client()
    let error = await #expect(throws: HTTPError.self) {
      try await client.download(.get(server.url("/f")), to: .file(folder("f"))).value
    }
    #expect(error?.kind == .diskFull)
    #expect(folder.names.isEmpty)
    try await server.waitForPeerClose()
    await client.shutdown()
    await server.stop()
  }

  /// A real file system of 1 MiB, where the test may mount one.
  @Test func `a full file system is named and keeps the part`() async throws {
    let folder = try TestFolder()
    mkdir(folder("disk"), 0o700)
    defer { rmdir(folder("disk")) }
    guard mount("none", folder("disk"), "tmpfs", 0, "size=1m") == 0 else { return }
    defer { umount2(folder("disk"), Int32(MNT_DETACH)) }
    let server = try ChunkServer()
    let client = Client()
    // A chunked body has no length that could be checked.
    let download = client.download(
      .get(server.url("/chunked/4000000?size=65536")), to: .file(folder("disk/f")))
    let error = await #expect(throws: HTTPError.self) { try await download.value }
    #expect(error?.kind == .diskFull)
    #expect(folder.read("disk/f") == nil)
    #expect((folder.read("disk/f.part")?.count ?? 0) > 0)
    let known = client.download(.get(server.url("/bytes/4000000")), to: .file(folder("disk/g")))
    let error2 = await #expect(throws: HTTPError.self) { try await known.value }
    #expect(error2?.kind == .diskFull)
    #expect(folder.read("disk/g.part") == nil)
    await client.shutdown()
    await server.stop()
  }
}
