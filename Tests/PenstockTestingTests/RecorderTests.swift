import Foundation
@testable import PenstockTesting
import StreamCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct RecorderTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
    .path

  private func play(_ transport: some Transport, _ request: TransportRequest) async -> String {
    do throws(HTTPError) {
      let exchange = try transport.open(request)
      while true {
        guard case .head(let head, _) = try await exchange.next() else { continue }
        let bytes = try await ResponseBody(source: exchange.bodySource()).collect(upTo: .mebibytes(1))
        let trailers = exchange.trailers.map { " \($0)" } ?? ""
        return
          "\(head.status) \(head.headers["X"] ?? "") \(String(decoding: bytes, as: UTF8.self))\(trailers)"
      }
    } catch {
      return error.kind.rawValue
    }
  }

  @Test func `what was recorded is played back`() async throws {
    defer { unlink(path) }
    let mock = MockTransport()
    mock.on(
      .call(.get, "/a"),
      [.status(200, headers: ["X": "1", "Set-Cookie": "hush"], body: "one".utf8), .text("two")])
    mock.on(.call(.post, "/a"), .steps([.head(201), .bytes([97]), .bytes([98]), .trailers(["T": "t"])]))
    mock.on(.url("/cut"), .steps([.head(200), .bytes([97]), .fail(.truncated)]))
    mock.on(.url("/none"), .failure(.connectFailed))
    let streamed = AsyncStream<[UInt8]> { continuation in
      continuation.yield(Array("st".utf8))
      continuation.yield(Array("ream".utf8))
      continuation.finish()
    }
    let requests = [
      TransportRequest(method: .get, url: "https://h/a?token=hush", headers: ["Authorization": "hush"]),
      TransportRequest(method: .get, url: "https://h/a?token=hush"),
      TransportRequest(method: .post, url: "https://h/a", body: .string("body")),
      TransportRequest(method: .get, url: "https://h/cut"),
      TransportRequest(method: .get, url: "https://h/none"),
    ]
    let expected = ["200 1 one", "200  two", "201  ab T: t", "truncated", "connect"]
    let recorder = Recorder(recording: mock, to: path)
    for (request, outcome) in zip(requests, expected) {
      #expect(await play(recorder, request) == outcome)
    }
    #expect(
      await play(recorder, TransportRequest(method: .post, url: "https://h/a", body: .stream(streamed)))
        == expected[2])
    try await lines(6)
    #expect(recorder.failure == nil)
    #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("hush"))

    let player = try Recorder.playing(path)
    for (request, outcome) in zip(requests, expected) {
      #expect(await play(player, request) == outcome)
    }
    #expect(await play(player, requests[1]) == "200  two")
    #expect(
      await play(player, TransportRequest(method: .post, url: "https://h/a", body: .string("stream")))
        == expected[2])
    #expect(
      await play(player, TransportRequest(method: .post, url: "https://h/a", body: .string("other")))
        == "transport")
  }

  @Test func `a multipart body is known again, whatever its boundary`() async throws {
    defer { unlink(path) }
    let mock = MockTransport()
    mock.on(.any, [.text("one"), .text("two")])
    let recorder = Recorder(recording: mock, to: path)
    func form(_ boundary: String, _ content: String) -> TransportRequest {
      TransportRequest(
        method: .post, url: "https://h/form",
        headers: ["Content-Type": "multipart/form-data; boundary=\"\(boundary)\""],
        body: .string("--\(boundary)\r\n\r\n\(content)\r\n--\(boundary)--\r\n"))
    }
    #expect(await play(recorder, form("first", "a")) == "200  one")
    #expect(await play(recorder, form("second", "b")) == "200  two")
    try await lines(2)
    let player = try Recorder.playing(path)
    #expect(await play(player, form("third", "b")) == "200  two")
    #expect(await play(player, form("fourth", "a")) == "200  one")
    #expect(await play(player, form("fifth", "c")) == "transport")
  }

  /// A line is written just behind the end of its body.
  private func lines(_ count: Int) async throws {
    let areWritten = await eventually {
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").count >= count
    }
    #expect(areWritten)
  }

  @Test func `what is larger than the limit passes, and isn't recorded`() async throws {
    defer { unlink(path) }
    let mock = MockTransport()
    mock.on(.url("/large"), .text("12345"))
    mock.on(.url("/small"), .text("1"))
    let recorder = Recorder(recording: mock, to: path, limit: .bytes(4))
    #expect(await play(recorder, TransportRequest(method: .get, url: "https://h/large")) == "200  12345")
    #expect(await play(recorder, TransportRequest(method: .get, url: "https://h/small")) == "200  1")
    try await lines(1)
    let player = try Recorder.playing(path)
    #expect(await play(player, TransportRequest(method: .get, url: "https://h/small")) == "200  1")
    #expect(await play(player, TransportRequest(method: .get, url: "https://h/large")) == "transport")
  }

  @Test func `a file that can't be read or is no recording is refused`() async throws {
    defer { unlink(path) }
    #expect(throws: HTTPError.self) { try Recorder.playing(path) }
    try Data("nonsense\n".utf8).write(to: URL(filePath: path))
    do {
      _ = try Recorder.playing(path)
      Issue.record("taken")
    } catch {
      #expect(error.kind == .readFailed && error.message.contains("line 1"))
    }
  }

  @Test func `a file that can't be written is told, and the exchange is well`() async {
    let mock = MockTransport()
    mock.on(.any, .text("x"))
    let recorder = Recorder(recording: mock, to: "/nonexistent/folder/file")
    #expect(await play(recorder, TransportRequest(method: .get, url: "https://h/")) == "200  x")
    #expect(await eventually { recorder.failure != nil })
    #expect(recorder.failure?.kind == .writeFailed)
  }
}
