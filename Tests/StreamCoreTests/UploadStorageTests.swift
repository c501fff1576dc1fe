@testable import StreamCore
import Synchronization
import TestSupport
import Testing

/// A source that gives its chunks, then fails or ends, and tells when it is asked and left.
private final class ScriptedSource: BodySource {
  private let rest: Mutex<[BodyChunk]>
  private let error: HTTPError?
  private let onAbandon: @Sendable () -> Void

  init(_ chunks: [[UInt8]], error: HTTPError? = nil, onAbandon: @escaping @Sendable () -> Void = {}) {
    rest = Mutex(chunks.map { BodyChunk($0) })
    self.error = error
    self.onAbandon = onAbandon
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    let chunk: BodyChunk? = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if chunk == nil, let error { throw error }
    return chunk
  }

  func abandon() { onAbandon() }
}

/// The sender's side of a test: wake-ups come as a stream.
private struct Sender {
  let upload: UploadStorage
  let wakeUps: AsyncStream<Void>

  init(length: Int64? = nil, watermark: Watermark = Watermark(low: 100, high: 400)) {
    upload = UploadStorage(length: length, watermark: watermark)
    let (stream, tell) = AsyncStream<Void>.makeStream()
    wakeUps = stream
    upload.attach { tell.yield() }
  }

  func readOnce(_ capacity: Int) -> (UploadStorage.Read, [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: capacity)
    let result = buffer.withUnsafeMutableBytes { upload.read(into: $0) }
    if case .bytes(let count) = result { return (result, Array(buffer[..<count])) }
    return (result, [])
  }

  /// Reads to the end or until aborted, waiting when it is told to pause.
  func readAll(_ capacity: Int = 64) async -> (UploadStorage.Read, [UInt8]) {
    var all: [UInt8] = []
    var wakeUps = wakeUps.makeAsyncIterator()
    while true {
      let (result, bytes) = readOnce(capacity)
      switch result {
      case .bytes: all += bytes
      case .pause: await wakeUps.next()
      case .end, .abort: return (result, all)
      }
    }
  }
}

private final class Counter: Sendable {
  private let value = Atomic<Int>(0)
  var count: Int { value.load(ordering: .sequentiallyConsistent) }
  func add() { value.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

struct UploadStorageTests {
  private func chunks(_ count: Int, of size: Int) -> [[UInt8]] {
    (0..<count).map { index in (0..<size).map { UInt8(truncatingIfNeeded: index &* size &+ $0) } }
  }

  @Test func `bytes that are here are read out in pieces`() {
    let sender = Sender(length: 5)
    sender.upload.fill(BodyChunk([1, 2, 3, 4, 5]))
    #expect(sender.readOnce(3) == (.bytes(3), [1, 2, 3]))
    #expect(sender.readOnce(3) == (.bytes(2), [4, 5]))
    #expect(sender.readOnce(3) == (.end, []))
    #expect(sender.upload.sent == 5)
  }

  @Test func `an empty body ends at once`() {
    let sender = Sender(length: 0)
    sender.upload.fill(.empty)
    #expect(sender.readOnce(3) == (.end, []))
  }

  @Test(arguments: [1, 7, 64, 1000]) func `a stream arrives whole and in order`(capacity: Int) async {
    let sender = Sender()
    let body = chunks(50, of: 90)
    let feeder = Task { await sender.upload.feed { ScriptedSource(body) } }
    let (result, bytes) = await sender.readAll(capacity)
    #expect(result == .end)
    #expect(bytes == body.flatMap { $0 })
    sender.upload.close()
    await feeder.value
  }

  @Test func `the feeder waits for room`() async {
    let sender = Sender()
    let taken = Counter()
    let body = chunks(50, of: 100)
    let source = ScriptedSource(body)
    let feeder = Task {
      await sender.upload.feed { CountingSource(source) { taken.add() } }
    }
    #expect(await eventually { taken.count >= 4 })
    for _ in 0..<1000 { await Task.yield() }
    #expect(taken.count == 4)
    let (result, bytes) = await sender.readAll()
    #expect(result == .end && bytes.count == 5000)
    sender.upload.close()
    await feeder.value
  }

  @Test func `too short a stream fails the upload`() async {
    let sender = Sender(length: 11)
    await sender.upload.feed { ScriptedSource([[1, 2, 3]]) }
    #expect(sender.upload.failure?.kind == .invalidBody)
    #expect(sender.upload.failure?.message.contains("only 3") == true)
    #expect(sender.readOnce(9).0 == .abort)
  }

  @Test func `too long a stream fails the upload`() async {
    let sender = Sender(length: 2)
    await sender.upload.feed { ScriptedSource([[1, 2, 3]]) }
    #expect(sender.upload.failure?.kind == .invalidBody)
    #expect(sender.readOnce(9).0 == .abort)
  }

  @Test func `a source that throws fails the upload and wakes the sender`() async {
    let sender = Sender()
    #expect(sender.readOnce(9).0 == .pause)
    await sender.upload.feed {
      ScriptedSource([], error: HTTPError(.readFailed, phase: .file, message: "gone"))
    }
    #expect(await sender.readAll() == (.abort, []))
    #expect(sender.upload.failure?.kind == .readFailed)
  }

  @Test func `what a caller's sequence throws becomes a typed error`() async {
    struct Odd: Error {}
    let sender = Sender()
    let body = RequestBody.stream(AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Odd()) })
    guard case .stream(let make) = body.content else {
      Issue.record("no stream")
      return
    }
    await sender.upload.feed(from: make)
    #expect(sender.upload.failure?.kind == .readFailed)
  }

  @Test func `a restart in the middle sends the whole body again`() async {
    let sender = Sender()
    let body = chunks(30, of: 90)
    let feeder = Task { await sender.upload.feed { ScriptedSource(body) } }
    var wakeUps = sender.wakeUps.makeAsyncIterator()
    var seen = 0
    while seen < 500 {
      let (result, bytes) = sender.readOnce(64)
      if result == .pause { await wakeUps.next() }
      seen += bytes.count
    }
    sender.upload.restart()
    let (result, bytes) = await sender.readAll()
    #expect(result == .end)
    #expect(bytes == body.flatMap { $0 })
    sender.upload.close()
    await feeder.value
  }

  @Test(.timeLimit(.minutes(1))) func `a restart after the last byte was fed sends the whole body again`()
    async
  {
    let sender = Sender()
    let feeder = Task { await sender.upload.feed { ScriptedSource([[1, 2, 3]]) } }
    #expect(await sender.readAll() == (.end, [1, 2, 3]))
    sender.upload.restart()
    #expect(await sender.readAll() == (.end, [1, 2, 3]))
    sender.upload.close()
    await feeder.value
  }

  @Test(.timeLimit(.minutes(1))) func `a close sends a waiting feeder home`() async {
    let sender = Sender()
    let left = Counter()
    let feeder = Task {
      await sender.upload.feed {
        ScriptedSource([[UInt8](repeating: 0, count: 500)]) { left.add() }
      }
    }
    while sender.readOnce(1).0 == .pause { await Task.yield() }
    sender.upload.close()
    await feeder.value
    #expect(left.count > 0)
    #expect(sender.readOnce(9).0 == .abort)
  }

  @Test(.timeLimit(.minutes(1))) func `a failure from outside sends a waiting feeder home`() async {
    let sender = Sender()
    let asked = Counter()
    let feeder = Task {
      await sender.upload.feed {
        CountingSource(ScriptedSource([[UInt8](repeating: 0, count: 500), [1]])) {
          asked.add()
        }
      }
    }
    while asked.count < 1 { await Task.yield() }
    for _ in 0..<100 { await Task.yield() }
    sender.upload.fail(HTTPError(.sendFailed, phase: .request, message: "no"))
    await feeder.value
    #expect(sender.upload.failure?.kind == .sendFailed)
  }

  @Test func `a filled body is filled anew after a restart`() {
    let sender = Sender(length: 2)
    sender.upload.fill(BodyChunk([1, 2]))
    _ = sender.readOnce(1)
    sender.upload.restart()
    sender.upload.fill(BodyChunk([1, 2]))
    #expect(sender.readOnce(9) == (.bytes(2), [1, 2]))
    #expect(sender.readOnce(9).0 == .end)
  }
}

/// Calls a closure for each chunk that is asked for and given.
private final class CountingSource: BodySource {
  private let inner: any BodySource
  private let onChunk: @Sendable () -> Void

  init(_ inner: any BodySource, _ onChunk: @escaping @Sendable () -> Void) {
    self.inner = inner
    self.onChunk = onChunk
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    let chunk = try await inner.next()
    if chunk != nil { onChunk() }
    return chunk
  }

  func abandon() { inner.abandon() }
}
