@testable import StreamCore
import TestSupport
import Testing

/// The receiving side as a whole, a fake producer in place of the loop.
struct ResponseBodyReaderTests {
  @Test func `chunks come whole and in order from a concurrent producer`() async throws {
    let receiving = Receiving(Watermark(low: 2000, high: 8000))
    let total = 400_000
    let feed = Task {
      var random = SeededGenerator(seed: 3)
      var news = receiving.producer.news.makeAsyncIterator()
      var sent = 0
      while sent < total {
        let count = min(1 + random.next(below: 3000), total - sent)
        let action = receiving.append((sent..<sent + count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        sent += count
        if random.next(below: 3) == 0 || action == .keepAndHold { receiving.storage.flush() }
        if action == .keepAndHold { await news.next() }
      }
      receiving.end()
    }
    let reader = receiving.reader
    var position = 0
    while let chunk = try await reader.next() {
      #expect(receiving.storage.buffered <= 8000 + 3000)
      for byte in chunk {
        guard byte == UInt8(truncatingIfNeeded: position &* 31) else {
          Issue.record("wrong byte at \(position)")
          return
        }
        position += 1
      }
    }
    await feed.value
    #expect(position == total)
    #expect(receiving.budget.used == 0 && receiving.storage.buffered == 0)
    #expect(receiving.pool.live == 0)
    #expect(receiving.producer.leaves == 0)
  }

  @Test func `pieces are one chunk until they are looked at or something else comes`() async throws {
    let receiving = Receiving(Watermark(low: 2000, high: 80_000))
    receiving.append([1, 2])
    receiving.append([3])
    let reader = receiving.reader
    #expect(try await reader.next().map(Array.init) == [1, 2, 3])
    receiving.append([4])
    receiving.append([5, 6])
    receiving.storage.deliver(.trailers([:]))
    receiving.append([7])
    receiving.end()
    #expect(try await reader.next().map(Array.init) == [4, 5, 6])
    #expect(try await reader.next().map(Array.init) == [7])
    #expect(try await reader.next() == nil)
    #expect(receiving.budget.used == 0)
  }

  @Test func `a small piece isn't cut to fill up the block of another`() async throws {
    let receiving = Receiving(Watermark(low: 2000, high: 80_000))
    let reader = receiving.reader
    // Each in turn begins a block of 1,024 bytes, which has no room for the next.
    for _ in 0..<3 {
      receiving.append(1000)
      #expect(try await reader.next()?.count == 1000)
    }
    receiving.append(20)
    receiving.append(4)
    receiving.end()
    #expect(try await reader.next()?.count == 24)
    #expect(try await reader.next() == nil)
  }

  @Test func `a held producer is told to go on once, when little is left`() async throws {
    let receiving = Receiving()
    for _ in 0..<3 { #expect(receiving.append(1000) == .keep) }
    #expect(receiving.append(1000) == .keepAndHold)
    let reader = receiving.reader
    var seen = 0
    while seen < 4000 { seen += try await reader.next()?.count ?? 0 }
    #expect(receiving.producer.resumes == 1)
    #expect(receiving.budget.used == 0)
  }

  @Test func `credit for what was read is given once, the rest at the end`() async throws {
    let receiving = Receiving()
    receiving.append(2500)
    receiving.storage.deliver(.trailers([:]))
    receiving.append(300)
    receiving.end()
    let reader = receiving.reader
    _ = try await reader.next()
    while try await reader.next() != nil {}
    #expect(receiving.budget.used == 0 && receiving.storage.buffered == 0)
    #expect(try await reader.next() == nil)
  }

  @Test func `over the budget the producer is held at the low mark`() {
    let receiving = Receiving(budget: 500)
    #expect(receiving.append(600) == .keep)
    #expect(receiving.append(300) == .keep)
    #expect(receiving.append(100) == .keepAndHold)
  }

  @Test func `a failure comes after the bytes before it, and again`() async throws {
    let receiving = Receiving()
    receiving.append(10)
    receiving.end(.failure(HTTPError(.receiveFailed, phase: .body, message: "reset")))
    let reader = receiving.reader
    #expect(try await reader.next()?.count == 10)
    for _ in 0..<2 {
      await #expect(throws: HTTPError(.receiveFailed, phase: .body, message: "")) { try await reader.next() }
    }
    #expect(receiving.budget.used == 0)
  }

  @Test(arguments: [false, true])
  func `a producer that is left to the reader goes when the end is taken, or with the reader`(
    takesEnd: Bool
  ) async throws {
    let pool = SlabPool()
    let storage = ResponseBodyStorage(pool: pool, budget: MemoryBudget(limit: 1 << 20), watermark: .standard)
    var producer: FakeProducer? = FakeProducer()
    weak let left = producer
    if let producer { storage.attach(producer) }
    producer = nil
    var reader: ResponseBodyReader? = ResponseBodyReader(storage, watermark: .standard)
    storage.finish(.complete(CopyOnWrite(ExchangeFacts())), leavesProducer: true)
    storage.flush()
    #expect(left != nil)
    if takesEnd {
      #expect(try await reader?.next() == nil)
    } else {
      reader = nil
    }
    #expect(left == nil)
    #expect(left?.leaves ?? 0 == 0)
    _ = reader
  }

  @Test func `the facts at the end are those of the head with what was counted`() {
    let receiving = Receiving()
    var facts = ExchangeFacts()
    facts.timings.firstByte = .milliseconds(3)
    facts.connection.reused = true
    receiving.storage.deliver(.head(ResponseHead(status: 200), facts))
    #expect(receiving.storage.facts == nil)
    receiving.end(.counted(ExchangeTotals(total: .milliseconds(7), received: 5, sent: 6)))
    facts.timings.total = .milliseconds(7)
    facts.received = 5
    facts.sent = 6
    #expect(receiving.storage.facts == facts)
  }

  @Test func `cancelling the task while it waits ends the exchange`() async {
    let receiving = Receiving()
    let reader = receiving.reader
    let task = Task { try await reader.next() }
    var news = receiving.producer.news.makeAsyncIterator()
    task.cancel()
    await news.next()
    await #expect(throws: HTTPError.cancelled) { try await task.value }
    #expect(receiving.producer.leaves == 1)
    #expect(receiving.append(10) == .ignore)
    #expect(receiving.budget.used == 0)
  }

  @Test func `cancelling from outside wakes a waiting reader`() async {
    for _ in 0..<200 {
      let receiving = Receiving()
      let reader = receiving.reader
      async let result: Void = {
        await #expect(throws: HTTPError.cancelled) { try await reader.next() }
      }()
      receiving.storage.abandon()
      await result
      #expect(receiving.producer.leaves == 1)
    }
  }

  @Test func `a reader that leaves doesn't tell a held producer to go on`() async throws {
    let receiving = Receiving()
    receiving.append(3000)
    receiving.storage.deliver(.trailers([:]))
    #expect(receiving.append(1500) == .keepAndHold)
    let reader = receiving.reader
    #expect(try await reader.next()?.count == 3000)
    reader.abandon()
    #expect(receiving.producer.resumes == 0)
    #expect(receiving.producer.leaves == 1)
    #expect(receiving.budget.used == 0 && receiving.pool.live == 0)
  }

  @Test func `leaving after the end is silent and frees what is left`() {
    let receiving = Receiving()
    receiving.append(50_000)
    receiving.end()
    receiving.storage.abandon()
    receiving.storage.abandon()
    #expect(receiving.producer.leaves == 0)
    #expect(receiving.budget.used == 0 && receiving.pool.live == 0)
  }

  @Test func `a small chunk out of a large slab is copied out`() async throws {
    let receiving = Receiving()
    receiving.append(5000)
    let reader = receiving.reader
    _ = try await reader.next()
    receiving.append(30)
    let small = try #require(try await reader.next())
    #expect(small.slab.capacity == 30)
    receiving.end()
    #expect(try await reader.next() == nil)
    #expect(receiving.pool.live == 0)
    #expect(small.count == 30)
  }

  @Test func `an event of its own takes a slab of its own size`() {
    let receiving = Receiving()
    receiving.append(30)
    #expect(receiving.pool.live == 0)
  }

  @Test func `a drained stream whose reader waits holds no slab`() async throws {
    let receiving = Receiving(Watermark(low: 10_000, high: 100_000))
    receiving.append(20_000)
    let reader = receiving.reader
    _ = try await reader.next()
    #expect(receiving.pool.live == 1)
    let task = Task { try await reader.next()?.count }
    receiving.storage.flush()
    #expect(await eventually { receiving.pool.live == 0 })
    receiving.append(3)
    receiving.storage.flush()
    #expect(try await task.value == 3)
  }

  @Test func `dropping storage and reader returns everything`() {
    let pool = SlabPool()
    let budget = MemoryBudget(limit: 1 << 20)
    do {
      let storage = ResponseBodyStorage(pool: pool, budget: budget, watermark: .standard)
      [UInt8](repeating: 1, count: 300_000).withUnsafeBytes { _ = storage.append($0) }
      #expect(budget.used == 300_000 && pool.live > 0)
    }
    #expect(budget.used == 0 && pool.live == 0)
  }

  @Test func `many readers, random cuts, cancellation at any point: nothing is left`() async {
    await withTaskGroup(of: Void.self) { group in
      for seed in 1...200 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(seed))
          let receiving = Receiving()
          let stopAfter = random.next(below: 30)
          let cuts = (0..<20).map { _ in 1 + random.next(below: 900) }
          let feed = Task {
            for cut in cuts {
              receiving.append(cut)
              receiving.storage.flush()
              await Task.yield()
            }
            receiving.end()
          }
          let reader = receiving.reader
          let read = Task {
            var seen = 0
            while seen < stopAfter, try await reader.next() != nil { seen += 1 }
            reader.abandon()
          }
          if seed % 3 == 0 { read.cancel() }
          _ = await read.result
          await feed.value
          #expect(receiving.budget.used == 0 && receiving.pool.live == 0)
        }
      }
    }
  }
}
