import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// Answers over HTTP/2 that come whole before the request's body has gone, and what may follow them in the same receive.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Tool.hasPython, "needs python3 and openssl"))
struct HTTP2EarlyAnswerTests {
  enum Upload: CaseIterable, Sendable {
    case small
    /// More than the peer's window.
    case large
    /// Its source has nothing more to give until the answer is there.
    case waiting

    func make() -> (body: RequestBody, sink: AsyncStream<[UInt8]>.Continuation?) {
      switch self {
      case .small: return (.string("abc"), nil)
      case .large: return (.bytes([UInt8](repeating: 1, count: 1 << 20)), nil)
      case .waiting:
        let (stream, sink) = AsyncStream.makeStream(of: [UInt8].self)
        sink.yield([UInt8](repeating: 1, count: 10_000))
        return (.stream(stream, length: 1 << 20), sink)
      }
    }
  }

  /// The answer, or the error; an idle limit is a hang.
  private func post(_ upload: Upload, to server: TLSScript) async throws -> HTTPError? {
    try await TestClient.trusting({
      $0.loops = 1
      $0.timeouts.idle = .seconds(10)
      $0.timeouts.total = .seconds(20)
    }) { client in
      let (body, sink) = upload.make()
      defer { sink?.finish() }
      return await failure {
        let response = try await client.send(.post(server.url, body: body))
        #expect(response.status == 413)
        let text = try await response.body.collect(upTo: .kibibytes(1))
        #expect(text == Array("no".utf8))
      }
    }
  }

  @Test(
    "an early answer, alone or with the connection's end behind it, is the answer to a POST",
    arguments: ["h2-early", "h2-early-goaway"], Upload.allCases)
  func early_answer(mode: String, upload: Upload) async throws {
    try await TLSScript.with(mode) { server in
      // Often: the answer races the body.
      for _ in 0..<10 {
        let error = try await post(upload, to: server)
        #expect(error == nil, "\(String(describing: error))")
      }
    }
  }

  @Test(
    "so is one without a length", arguments: ["h2-early-unknown", "h2-early-unknown-goaway"],
    [Upload.small, .waiting])
  func early_answer_without_length(mode: String, upload: Upload) async throws {
    try await TLSScript.with(mode) { server in
      for _ in 0..<10 {
        let error = try await post(upload, to: server)
        #expect(error == nil, "\(String(describing: error))")
      }
    }
  }

  @Test(
    "an answer that libcurl drops since its stream was reset in the same receive is lost, and the error says so",
    arguments: [
      ("h2-early-reset", Upload.small), ("h2-early-reset", .large), ("h2-early-reset-goaway", .small),
      ("h2-early-reset-goaway", .large), ("h2-early-reset-goaway", .waiting),
      ("h2-early-unknown-reset-goaway", .large), ("h2-early-reset", .waiting),
    ])
  func dropped_answer(mode: String, upload: Upload) async throws {
    try await TLSScript.with(mode) { server in
      for _ in 0..<10 {
        // A small body has mostly gone when the answer comes; newer libcurls drop nothing.
        guard let error = try await post(upload, to: server) else { continue }
        #expect(error.kind == .connectionLost, "\(error)")
        #expect(error.mayHaveBeenProcessed)
        #expect(error.message.contains("before the request's body had gone"), "\(error)")
      }
    }
  }
}
