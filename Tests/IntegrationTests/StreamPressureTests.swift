import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// Whoever stops reading what is made of a body stops the server that sends it, whatever stands between.
@Suite(.timeLimit(.minutes(2))) struct StreamPressureTests {
  /// A stream over a body: begins to read and hands back what must live while nobody reads on.
  struct Way: Sendable, CustomTestStringConvertible {
    let name: String
    let begin: String
    let pattern: [UInt8]
    let read: @Sendable (ResponseBody) async throws -> any Sendable
    var testDescription: String { name }

    init(
      _ name: String, _ pattern: String, begin: String = "",
      _ read: @escaping @Sendable (ResponseBody) async throws -> any Sendable
    ) {
      self.init(
        name, bytes: Array(String(repeating: pattern, count: 40_000 / pattern.utf8.count).utf8), begin, read)
    }

    init(
      _ name: String, bytes: [UInt8], _ begin: String = "",
      _ read: @escaping @Sendable (ResponseBody) async throws -> any Sendable
    ) {
      self.name = name
      self.begin = begin
      pattern = bytes
      self.read = read
    }
  }

  /// Takes a few elements, then holds the iterator.
  private static func some<S: AsyncSequence & Sendable>(
    of sequence: S, _ count: Int = 3
  ) async throws -> any Sendable where S.Element: Sendable {
    let held = Held(sequence.makeAsyncIterator())
    for _ in 0..<count { #expect(try await held.next() != nil) }
    return held
  }

  /// An iterator that one task uses at a time.
  private final class Held<Iterator: AsyncIteratorProtocol>: @unchecked Sendable {
    private var iterator: Iterator
    init(_ iterator: Iterator) { self.iterator = iterator }
    func next() async throws -> Iterator.Element? { try await iterator.next(isolation: nil) }
  }

  private static let noise: [UInt8] = {
    var generator = SeededGenerator(seed: 1951)
    return generator.bytes(40_000)
  }()

  private struct Row: Decodable, Sendable { let id: Int }

  private static let ways: [Way] = [
    Way("chunks of one size", "x") { try await some(of: $0.rechunked(bytes: 100_000)) },
    // What can't be packed: a piece that goes out may stand for megabytes else.
    Way("packed", bytes: noise) { try await some(of: $0.gzipped(level: 1), 1) },
    Way("hashed", "x") { try await some(of: $0.hashed(by: BodyHash(.sha256))) },
    Way("limited", "x") { try await some(of: $0.limited(to: .gibibytes(1))) },
    Way("lines", "a line\r\n") { try await some(of: $0.lines) },
    Way("byte lines", "a line\n") { try await some(of: $0.byteLines) },
    Way("JSON lines", "{\"id\": 1}\n") { try await some(of: $0.jsonLines(of: Row.self)) },
    Way("compact JSON lines", "{\"id\": 1}\n") { try await some(of: $0.compactJSONLines()) },
    Way("JSON text sequence", "\u{1E}{\"id\": 1}\n") { try await some(of: $0.jsonSequence(of: Row.self)) },
    Way("elements of an array", "{\"id\": 1},", begin: "{\"items\": [") {
      try await some(of: $0.jsonElements(of: Row.self, at: "items"))
    },
    Way("events", "data: a\n\n") { try await some(of: $0.serverSentEvents) },
    Way("rows of CSV", "1,\"two\"\n") { try await some(of: $0.csvRows()) },
    Way("records of a framer", "{\"id\": 1}\n") {
      try await some(of: $0.decoded(as: Row.self, by: LineFramer()))
    },
    Way("parts", "x", begin: "--b\r\n\r\n") { body in
      let parts = Held(body.multipartParts(boundary: "b").makeAsyncIterator())
      let part = try #require(try await parts.next())
      return (parts, try await some(of: part.body))
    },
    Way("limited in time", "a line\n") {
      try await some(of: $0.lines.timeLimited(each: .seconds(600), total: .seconds(600)))
    },
    Way("merged", "a line\n") { try await some(of: [$0.lines].merged(), 500) },
    Way("shared, one reader stopped", "x") { body in
      let readers = body.shared(among: 2)
      // The other one goes on for as long as it may.
      let fast = Task { try await readers[0].drain() }
      return (try await some(of: readers[1], 1), Cancelling(fast))
    },
    Way("copied to a sink that is full", "x") { body in
      let reader = Task { try await body.tee(to: Full()).drain() }
      return Cancelling(reader)
    },
    Way("several, one on the other", "{\"id\": 1}\n") {
      try await some(
        of: $0.hashed(by: BodyHash(.md5)).rechunked(bytes: 1000).limited(to: .gibibytes(1)).compactJSONLines()
      )
    },
  ]

  /// Cancels a task when it goes.
  private final class Cancelling: Sendable {
    let task: Task<Int64, any Error>
    init(_ task: Task<Int64, any Error>) { self.task = task }
    deinit { task.cancel() }
  }

  /// Takes one chunk, and never another one.
  private final class Full: ByteSink {
    private let room = AsyncStream<Void>.makeStream()
    func write(_ chunk: BodyChunk) async throws(HTTPError) {
      for await _ in room.stream {}
      throw HTTPError.cancelled
    }
    func finish() async throws(HTTPError) {}
    func cancel() {}
  }

  @Test(arguments: ways) func `who stops reading stops the server, and who leaves ends it`(_ way: Way)
    async throws
  {
    try await check(way)
  }

  @Test func `who stops reading what is unpacked stops the server, and who leaves ends it`() async throws {
    let plain = Array(String(repeating: "some text ", count: 10_000).utf8)
    let packed = try await ResponseBody(plain).gzipped().collect(upTo: .unlimited)
    try await check(Way("unpacked", bytes: packed) { try await Self.some(of: $0.gunzipped()) })
  }

  private func check(_ way: Way) async throws {
    let begin = way.begin.isEmpty ? [] : [Step.chunk(way.begin)]
    let server = try ScriptedServer(
      script: Script(
        [.expectRequest, .head(fields: [("Transfer-Encoding", "chunked")])] + begin
          + [.sendForever(way.pattern, chunked: true)]), options: ServerOptions(sendBufferSize: 64 << 10))
    try await TestClient.with({ $0.watermark = Watermark(low: 64 << 10, high: 256 << 10) }) { client in
      var held: (any Sendable)? = try await way.read(try await client.send(.get(server.url)).body)
      let record = try await server.waitForSendBlocked(timeout: .seconds(60))
      #expect(record.bytesSent < 16 << 20)
      // The mark, and what one receive may bring beyond it.
      #expect(client.gauges.bufferedBytes <= (256 << 10) + (512 << 10))
      withExtendedLifetime(held) {}
      held = nil
      try await server.waitForPeerClose(timeout: .seconds(60))
    }
    await server.stop()
  }

  @Test func `a receiver that takes nothing stops the server that the body comes from`() async throws {
    let from = try ScriptedServer(
      script: [
        .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]),
        .sendForever([UInt8](repeating: 120, count: 40_000), chunked: true),
      ], options: ServerOptions(sendBufferSize: 64 << 10))
    let to = try ScriptedServer(script: [.expectHead, .waitForSignal("read"), .readUntilClose])
    try await TestClient.with({ $0.watermark = Watermark(low: 64 << 10, high: 256 << 10) }) { client in
      // Nobody else holds the body: it goes with the upload, whether that has begun or not.
      let upload = Task {
        try await client.send(.get(from.url)).body.uploaded(by: client, as: .put(to.url))
      }
      try await to.waitForHeads(1, timeout: .seconds(60))
      let record = try await from.waitForSendBlocked(timeout: .seconds(60))
      #expect(record.bytesSent < 32 << 20)
      #expect(client.gauges.bufferedBytes <= (256 << 10) + (512 << 10))
      upload.cancel()
      #expect(await failure { try await upload.value }?.kind == .cancelled)
      try await from.waitForPeerClose(timeout: .seconds(60))
      // Its window is full: it sees the end behind what it hasn't read.
      to.signal("read")
      try await to.waitForPeerClose(timeout: .seconds(60))
    }
    await from.stop()
    await to.stop()
  }
}
