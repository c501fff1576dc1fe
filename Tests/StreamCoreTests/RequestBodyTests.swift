@testable import StreamCore
import Testing

struct RequestBodyTests {
  private func read(_ body: RequestBody) async throws(HTTPError) -> [UInt8] {
    guard case .stream(let make) = body.content else { return [] }
    let source = make()
    var bytes: [UInt8] = []
    while let chunk = try await source.next() { bytes += chunk }
    return bytes
  }

  private func stream(_ chunks: [[UInt8]]) -> AsyncStream<[UInt8]> {
    AsyncStream { tell in
      for chunk in chunks { tell.yield(chunk) }
      tell.finish()
    }
  }

  @Test func `what each kind says about itself`() {
    #expect(RequestBody.empty.isEmpty && RequestBody.empty.length == 0)
    let bytes = RequestBody.string("é")
    #expect(bytes.length == 2 && bytes.isReplayable && !bytes.isEmpty)
    #expect(RequestBody.bytes([]).isEmpty)
    let file = RequestBody.file("/nowhere")
    #expect(file.length == nil && file.isReplayable && !file.isEmpty)
    let unknown = RequestBody.stream(stream([]))
    #expect(unknown.length == nil && !unknown.isReplayable && !unknown.isEmpty)
    #expect(RequestBody.stream(stream([]), length: 9).length == 9)
  }

  @Test func `a chunk isn't copied`() {
    let chunk = BodyChunk([1, 2, 3])
    guard case .bytes(let kept) = RequestBody.bytes(chunk).content else {
      Issue.record("no bytes")
      return
    }
    #expect(kept.slab === chunk.slab)
  }

  @Test func `a stream gives its buffers in order`() async throws {
    #expect(try await read(.stream(stream([[1], [], [2, 3]]))) == [1, 2, 3])
  }

  @Test func `a replayable stream is made anew each time`() async throws {
    let body = RequestBody.replayableStream(length: 2) {
      AsyncStream<[UInt8]> { tell in
        tell.yield([1, 2])
        tell.finish()
      }
    }
    #expect(body.isReplayable && body.length == 2)
    #expect(try await read(body) == [1, 2])
    #expect(try await read(body) == [1, 2])
  }

  @Test func `errors of a stream are typed, ours pass as they are`() async {
    struct Odd: Error {}
    func failing(_ error: any Error) -> RequestBody {
      .stream(AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: error) })
    }
    for (error, kind) in [
      (Odd() as any Error, HTTPError.Kind.readFailed), (CancellationError(), .cancelled),
      (HTTPError(.checksumMismatch, phase: .file, message: ""), .checksumMismatch),
    ] {
      do {
        _ = try await read(failing(error))
        Issue.record("no error")
      } catch {
        #expect(error.kind == kind)
      }
    }
  }
}
