import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

/// A source that counts its abandonments.
final class WatchedSource: BodySource {
  private let chunks: Mutex<ArraySlice<BodyChunk>>
  let abandoned = Mutex(0)
  let taken = Mutex(0)

  init(_ pieces: [[UInt8]]) { chunks = Mutex(pieces.map { BodyChunk($0) }[...]) }

  func next() async throws(HTTPError) -> BodyChunk? {
    let chunk = chunks.withLock { $0.popFirst() }
    if chunk != nil { taken.withLock { $0 += 1 } }
    return chunk
  }
  func abandon() { abandoned.withLock { $0 += 1 } }
}

@Suite struct BodyOperatorTests {
  private static let text = sampleText(100_000)

  private func pieces(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min(bytes.count, $0 + size)]) }
  }

  private func bytes(_ body: ResponseBody) async throws -> [UInt8] {
    try await body.collect(upTo: .unlimited)
  }

  @Test func `chunks of one size, whatever the pieces`() async {
    for size in [1, 2, 3, 7, 10, 11] {
      for piece in 1...12 {
        let input = Array(UInt8(0)..<29)
        let (chunks, error) = await collected(
          ResponseBody(pieces: pieces(input, piece)).rechunked(bytes: size))
        #expect(error == nil)
        #expect(chunks.flatMap { Array($0) } == input)
        #expect(chunks.dropLast().allSatisfy { $0.count == size })
        #expect((chunks.last?.count ?? 0) <= size)
      }
    }
    let (_, error) = await collected(ResponseBody([1]).rechunked(bytes: 0))
    #expect(error?.kind == .invalidConfiguration)
  }

  @Test func `a chunk within what came is not copied`() async throws {
    let chunk = BodyChunk([1, 2, 3, 4])
    var iterator = ResponseBody(source: FixedBodySource(chunk)).rechunked(bytes: 2).makeAsyncIterator()
    let first = try await iterator.next()
    #expect(first?.withUnsafeBytes { $0.baseAddress } == chunk.withUnsafeBytes { $0.baseAddress })
  }

  @Test func `gzip files one after another are unpacked, whatever the pieces`() async throws {
    let packed = Deflater.gzip(Self.text) + Deflater.gzip([]) + Deflater.gzip(Array("tail".utf8))
    for size in [1, 2, 1000, packed.count] {
      let unpacked = try await bytes(ResponseBody(pieces: pieces(packed, size)).gunzipped())
      #expect(unpacked == Self.text + Array("tail".utf8))
    }
  }

  @Test func `zeros between and behind gzip files are passed over, other bytes are errors`() async throws {
    let file = Deflater.gzip(Array("a text".utf8))
    let zeros = [UInt8](repeating: 0, count: 700)
    for size in [1, 2, 512, 4096] {
      let padded = pieces(file + zeros + file + zeros, size)
      #expect(try await bytes(ResponseBody(pieces: padded).gunzipped()) == Array("a texta text".utf8))
    }
    #expect(await collected(ResponseBody(file + zeros + [7]).gunzipped()).1?.kind == .contentEncoding)
    #expect(await collected(ResponseBody(zeros).gunzipped()).1?.kind == .contentEncoding)
  }

  @Test func `every cut of a gzip file gives the same bytes`() async throws {
    let packed = Deflater.gzip(Array("é\u{1F680} text".utf8)) + Deflater.gzip(Array("tail".utf8))
    for cut in 0...packed.count {
      let body = ResponseBody(pieces: [Array(packed[..<cut]), Array(packed[cut...])])
      #expect(try await bytes(body.gunzipped()) == Array("é\u{1F680} texttail".utf8), "cut at \(cut)")
    }
  }

  @Test func `cut and damaged gzip files are errors`() async {
    let packed = Deflater.gzip(Self.text)
    #expect(await collected(ResponseBody(packed.dropLast(9)).gunzipped()).1?.kind == .truncated)
    #expect(await collected(ResponseBody(Array("plain".utf8)).gunzipped()).1?.kind == .contentEncoding)
    let bomb = ResponseBody(Deflater.gzip([UInt8](repeating: 0, count: 1 << 20)))
    #expect(
      await collected(bomb.gunzipped(limits: DecodingLimits(maximumBytes: 1000))).1?.kind == .bodyTooLarge)
  }

  @Test func `what is packed unpacks to itself`() async throws {
    for size in [1, 4096, Self.text.count] {
      for level in [0, 1, 9, 99] {
        let packed = try await bytes(
          ResponseBody(pieces: pieces(Self.text, max(size, 100))).gzipped(level: level))
        #expect(packed.count < Self.text.count / 2)
        #expect(try await bytes(ResponseBody(packed).gunzipped()) == Self.text)
      }
    }
    #expect(try await bytes(ResponseBody([]).gzipped().gunzipped()) == [])
    let noise = (0..<300_000).map { _ in UInt8.random(in: 0...255) }
    #expect(try await bytes(ResponseBody(noise).gzipped().gunzipped()) == noise)
  }

  @Test func `a digest is there at the end and not before`() async throws {
    let hash = BodyHash(.sha256)
    var iterator = ResponseBody(pieces: [Array("ab".utf8), Array("c".utf8)]).hashed(by: hash)
      .makeAsyncIterator()
    _ = try await iterator.next()
    #expect(hash.digest == nil)
    while try await iterator.next() != nil {}
    #expect(hash.digest?.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func `a digest that must be and isn't fails the body at its end`() async throws {
    let right = try Digest.of(Array("abc".utf8), .sha1)
    #expect(await collected(ResponseBody(Array("abc".utf8)).hashed(by: BodyHash(expecting: right))).1 == nil)
    let (chunks, error) = await collected(
      ResponseBody(Array("abd".utf8)).hashed(by: BodyHash(expecting: right)))
    #expect(chunks.count == 1)
    #expect(error?.kind == .checksumMismatch)
  }

  final class Sink: ByteSink {
    let log = Mutex<[String]>([])
    let failsAt: Int?
    init(failsAt: Int? = nil) { self.failsAt = failsAt }
    func write(_ chunk: BodyChunk) async throws(HTTPError) {
      let count = log.withLock { log in
        log.append(String(decoding: chunk, as: UTF8.self))
        return log.count
      }
      if count == failsAt { throw HTTPError(.writeFailed, phase: .file, message: "full") }
    }
    func finish() async throws(HTTPError) { log.withLock { $0.append("finish") } }
    func cancel() { log.withLock { $0.append("cancel") } }
    var seen: [String] { log.withLock { $0 } }
  }

  @Test func `a tee gets each chunk before the reader and the end`() async {
    let sink = Sink()
    _ = await collected(ResponseBody(pieces: [Array("a".utf8), Array("b".utf8)]).tee(to: sink))
    #expect(sink.seen == ["a", "b", "finish"])
  }

  @Test func `a tee is cancelled once when the body fails, the sink fails or the reader leaves`() async throws
  {
    let failing = Sink()
    let failure = HTTPError(.truncated, phase: .body, message: "cut")
    #expect(
      await collected(ResponseBody(pieces: [[0x61]], failure: failure).tee(to: failing)).1?.kind == .truncated
    )
    #expect(failing.seen == ["a", "cancel"])
    let full = Sink(failsAt: 1)
    let source = WatchedSource([[0x61], [0x62]])
    #expect(await collected(ResponseBody(source: source).tee(to: full)).1?.kind == .writeFailed)
    #expect(full.seen == ["a", "cancel"])
    #expect(source.abandoned.withLock { $0 } > 0)
    let left = Sink()
    for try await _ in ResponseBody(pieces: [[0x61], [0x62]]).tee(to: left) { break }
    #expect(left.seen == ["a", "cancel"])
    let unread = Sink()
    _ = ResponseBody([0x61]).tee(to: unread)
    #expect(unread.seen == ["cancel"])
  }

  @Test func `a file has its name when it is complete`() async throws {
    let folder = try TestFolder()
    let count = try await ResponseBody(pieces: pieces(Self.text, 10_000)).written(to: folder("out"))
    #expect(count == Int64(Self.text.count))
    #expect(folder.read("out") == Self.text)
    #expect(folder.names == ["out"])
    await #expect(throws: HTTPError.self) { try await ResponseBody([1]).written(to: folder("out")) }
    try await ResponseBody([0x31]).written(to: folder("out"), overwrite: .replace)
    #expect(folder.text("out") == "1")
    try await ResponseBody([]).written(to: folder("empty"))
    #expect(folder.read("empty") == [])
  }

  @Test func `a body that fails leaves no file`() async throws {
    let folder = try TestFolder()
    let failure = HTTPError(.truncated, phase: .body, message: "cut")
    let body = ResponseBody(pieces: [[1], [2]], failure: failure)
    let error = await #expect(throws: HTTPError.self) { try await body.written(to: folder("out")) }
    #expect(error?.kind == .truncated)
    #expect(await reached { folder.names.isEmpty })
  }

  @Test func `layers over an unread body end it when they go`() {
    let source = WatchedSource([[1]])
    do {
      let body = ResponseBody(source: source)
      _ = body.rechunked(bytes: 2).gzipped().gunzipped().limited(to: .bytes(9)).hashed(by: BodyHash(.md5))
    }
    #expect(source.abandoned.withLock { $0 } > 0)
  }
}
