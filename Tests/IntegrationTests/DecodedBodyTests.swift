import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Content codings through the whole client. The bytes are `gzip -9` of 5,000 times "penstock ".
@Suite(.timeLimit(.minutes(1))) struct DecodedBodyTests {
  /// gzip of "hello", stored.
  private static let hello: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x01, 5, 0, 0xFA, 0xFF, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x86, 0xA6,
    0x10, 0x36,
    5, 0, 0, 0,
  ]

  private func read(_ bytes: [UInt8], method: HTTPMethod = .get) async throws -> (String, HTTPError?) {
    let server = try ScriptedServer(script: [
      .respondEach([.response(fields: [("Content-Encoding", "gzip")], bytes: method == .head ? [] : bytes)])
    ])
    let result: (String, HTTPError?) = try await TestClient.with { client in
      var text: [UInt8] = []
      let error = await failure {
        for try await chunk in try await client.send(Request(method, server.url)).body { text += chunk }
      }
      #expect(server.requests.first?.value(of: "Accept-Encoding")?.contains("gzip") == true)
      return (String(decoding: text, as: UTF8.self), error)
    }
    await server.stop()
    return result
  }

  @Test func `a whole body is decoded`() async throws {
    let (text, error) = try await read(Self.hello)
    #expect(text == "hello")
    #expect(error == nil)
  }

  @Test func `members one after another are one body`() async throws {
    let (text, error) = try await read(Self.hello + Self.hello)
    #expect(text == "hellohello")
    #expect(error == nil)
  }

  @Test("a body cut inside of its coding is truncated", arguments: [5, 12, 18, 20, 27])
  func cut(length: Int) async throws {
    let (text, error) = try await read(Array(Self.hello.prefix(length)))
    #expect("hello".hasPrefix(text))
    #expect(error?.kind == .truncated)
    #expect(error?.phase == .decode)
    #expect(error?.status == 200)
  }

  @Test func `what is no gzip, and garbage behind it, are errors`() async throws {
    #expect(try await read(Array("plain text".utf8)).1?.kind == .contentEncoding)
    let (text, error) = try await read(Self.hello + Array("garbage".utf8))
    #expect("hello".hasPrefix(text))
    #expect(error?.kind == .contentEncoding)
  }

  @Test func `an empty body and the answer to HEAD are empty`() async throws {
    let empty = try await read([])
    #expect(empty.0 == "")
    #expect(empty.1 == nil)
    let head = try await read([], method: .head)
    #expect(head.0 == "")
    #expect(head.1 == nil)
  }

  @Test func `a coding that isn't known is an error, and ends the exchange`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .head(fields: [("Content-Encoding", "xyz"), ("Content-Length", "10")]), .stall,
    ])
    try await TestClient.with { client in
      let error = await failure { try await client.send(.get(server.url)) }
      #expect(error?.kind == .contentEncoding)
      #expect(error?.url == server.url)
      try await server.waitForPeerClose()
    }
    await server.stop()
  }

  @Test func `without decoding the bytes stay as they are`() async throws {
    let server = try ScriptedServer(script: [
      .respondEach([.response(fields: [("Content-Encoding", "gzip")], bytes: Self.hello)])
    ])
    try await TestClient.with({ $0.decodesContent = false }) { client in
      let response = try await client.send(.get(server.url))
      #expect(response.body.contentLength == Int64(Self.hello.count))
      let bytes = try await response.body.collect(upTo: .kibibytes(1))
      #expect(bytes == Self.hello)
      #expect(server.requests.first?.value(of: "Accept-Encoding") == nil)
    }
    await server.stop()
  }

  @Test func `progress has no total where none is known, grows, and ends with one last value`() async throws {
    let chunks = [String](repeating: String(repeating: "x", count: 65_536), count: 16)
    let server = try ScriptedServer(script: .chunked(chunks))
    try await TestClient.with { client in
      var last: Int64 = -1
      var names: [String] = []
      for try await event in client.events(.get(server.url)) {
        switch event {
        case .progress(let progress):
          #expect(progress.total == nil)
          #expect(progress.fraction == nil)
          #expect(progress.received >= last)
          last = progress.received
          names.append("progress")
        case .body: names.append("body")
        case .completed: names.append("completed")
        default: break
        }
      }
      #expect(last == 1 << 20)
      #expect(names.suffix(2) == ["progress", "completed"])
    }
    await server.stop()
  }
}
