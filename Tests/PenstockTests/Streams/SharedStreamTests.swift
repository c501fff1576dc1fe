import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

@Suite(.timeLimit(.minutes(1))) struct SharedStreamTests {
  @Test func `every reader gets all bytes`() async throws {
    let pieces = (0..<200).map { [UInt8](repeating: UInt8($0), count: 10) }
    let bodies = ResponseBody(pieces: pieces).shared(among: 3, rule: .slowest(holding: 50))
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for body in bodies { group.addTask { try await body.collect(upTo: .unlimited) } }
      for try await bytes in group { #expect(bytes == pieces.flatMap { $0 }) }
    }
  }

  @Test func `every reader gets the failure behind what came before`() async {
    let failure = HTTPError(.truncated, phase: .body, message: "cut")
    let readers = ResponseBody(pieces: [[1], [2]], failure: failure).shared(among: 2)
    async let first = collected(readers[0])
    async let second = collected(readers[1])
    for (chunks, error) in await [first, second] {
      #expect(chunks.count == 2)
      #expect(error?.kind == .truncated)
    }
  }

  @Test func `the slowest reader holds the source`() async throws {
    let source = WatchedSource((0..<100).map { [UInt8($0)] })
    let readers = ResponseBody(source: source).shared(among: 2, rule: .slowest(holding: 5))
    var fast = readers[0].makeAsyncIterator()
    for _ in 0..<5 { _ = try await fast.next() }
    #expect(source.taken.withLock { $0 } == 5)
    // The sixth must wait for the slow one.
    let task = Task { [fast] in
      var fast = fast
      return try await fast.next()
    }
    var slow = readers[1].makeAsyncIterator()
    let first = try await slow.next()
    #expect(first == BodyChunk([0]))
    let sixth = try await task.value
    #expect(sixth == BodyChunk([5]))
    #expect(source.taken.withLock { $0 } == 6)
  }

  @Test func `a reader that is left behind is told, and the fast one isn't held`() async throws {
    let readers = ResponseBody(pieces: (0..<50).map { [UInt8($0)] }).shared(
      among: 2, rule: .leaveBehind(holding: 5))
    let (chunks, error) = await collected(readers[0])
    #expect(chunks.count == 50)
    #expect(error == nil)
    let (none, failure) = await collected(readers[1])
    #expect(none.isEmpty)
    #expect(failure?.kind == .readerTooSlow)
  }

  @Test func `a reader that leaves no longer counts, and with the last one the source ends`() async throws {
    let source = WatchedSource((0..<100).map { [UInt8($0)] })
    var readers = ResponseBody(source: source).shared(among: 2, rule: .slowest(holding: 2))
    readers.removeLast()
    do {
      var iterator = readers[0].makeAsyncIterator()
      for _ in 0..<20 { _ = try await iterator.next() }
    }
    readers = []
    #expect(await reached { source.abandoned.withLock { $0 } > 0 })
  }

  @Test func `values are shared too, and a cancelled reader leaves the others alone`() async throws {
    let readers = ResponseBody(Array("a\nb\nc\n".utf8)).lines.shared(among: 2, rule: .slowest(holding: 1))
    let held = Task { await collected(readers[0]) }
    held.cancel()
    _ = await held.value
    let (lines, error) = await collected(readers[1])
    #expect(lines == ["a", "b", "c"])
    #expect(error == nil)
    #expect(await collected(readers[1]).1?.kind == .alreadyConsumed)
  }

  @Test func `random readers all get everything in order`() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      let count = 1 + generator.next(below: 4)
      let limit = 1 + generator.next(below: 6)
      var machine = SharedStateMachine<Int>(readers: count, rule: .slowest(holding: limit))
      var seen = Array(repeating: [Int](), count: count)
      var waiting: Set<Int> = []
      var isReading = false
      var next = 0
      for _ in 0..<400 {
        if isReading, generator.next(below: 3) == 0 {
          isReading = false
          waiting.subtract(machine.received(next, cost: 1))
          next += 1
          #expect(machine.held <= limit)
          continue
        }
        let reader = generator.next(below: count)
        if waiting.contains(reader) { continue }
        switch machine.next(reader) {
        case .element(let element): seen[reader].append(element)
        case .elementAndRead(let element):
          #expect(!isReading)
          isReading = true
          seen[reader].append(element)
        case .wait: waiting.insert(reader)
        case .waitAndRead:
          #expect(!isReading)
          isReading = true
          waiting.insert(reader)
        case .end, .fail: Issue.record("no end was told")
        }
        #expect(isReading || waiting.count < count, "nobody goes on")
      }
      for elements in seen { #expect(elements == Array(0..<elements.count)) }
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct MergedStreamTests {
  @Test func `all elements of all streams come, each with its source and in its order`() async throws {
    let streams = (0..<50).map { source in
      ResponseBody(Array((0..<20).map { "\(source) \($0)\n" }.joined().utf8)).lines
    }
    var seen = Array(repeating: [String](), count: 50)
    var ended: Set<Int> = []
    for try await item in streams.merged() {
      switch item.content {
      case .element(let line): seen[item.source].append(line)
      case .ended(let failure):
        #expect(failure == nil)
        ended.insert(item.source)
      }
    }
    #expect(ended.count == 50)
    for (source, lines) in seen.enumerated() { #expect(lines == (0..<20).map { "\(source) \($0)" }) }
  }

  @Test func `a failure of one stream is its end and no other's`() async throws {
    let failure = HTTPError(.truncated, phase: .body, message: "cut")
    let streams = [ResponseBody(pieces: [[1]], failure: failure), ResponseBody(pieces: [[2], [3]])]
    var kinds: [HTTPError.Kind?] = []
    var count = 0
    for try await item in streams.merged() {
      if case .ended(let failure) = item.content { kinds.append(failure?.kind) } else { count += 1 }
    }
    #expect(count == 3)
    #expect(Set(kinds) == [.truncated, nil])
  }

  @Test func `a stream holds no more than one element that nobody took`() async throws {
    let sources = (0..<3).map { _ in WatchedSource((0..<100).map { [UInt8($0)] }) }
    var iterator = sources.map { ResponseBody(source: $0) }.merged().makeAsyncIterator()
    var counts = [0, 0, 0]
    for _ in 0..<30 {
      let item = try await iterator.next()
      if let item { counts[item.source] += 1 }
      for (index, source) in sources.enumerated() {
        #expect(source.taken.withLock { $0 } <= counts[index] + 2)
      }
    }
  }

  @Test func `leaving ends all streams, and so does cancelling`() async throws {
    let sources = (0..<3).map { _ in WatchedSource((0..<100).map { [UInt8($0)] }) }
    for try await _ in sources.map({ ResponseBody(source: $0) }).merged() { break }
    for source in sources {
      #expect(await reached { source.abandoned.withLock { $0 } > 0 })
    }
    let task = Task { await collected([AsyncStream<Int> { _ in }].merged()).1 }
    task.cancel()
    #expect(await task.value?.kind == .cancelled)
    #expect(await collected([ResponseBody]().merged()).0.isEmpty)
  }
}
