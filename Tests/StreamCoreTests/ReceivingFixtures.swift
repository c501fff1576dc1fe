@testable import StreamCore
import Synchronization
import Testing

/// A producer that counts what comes back to it, and lets a test wait for it.
final class FakeProducer: ExchangeProducer {
  struct Counts: Sendable, Equatable {
    var resumes = 0
    var leaves = 0
  }

  private let counts = Mutex(Counts())
  let news: AsyncStream<Void>
  private let tell: AsyncStream<Void>.Continuation

  init() { (news, tell) = AsyncStream.makeStream() }

  var resumes: Int { counts.withLock { $0.resumes } }
  var leaves: Int { counts.withLock { $0.leaves } }

  func readerWantsMore() {
    counts.withLock { $0.resumes += 1 }
    tell.yield()
  }

  func readerLeft() {
    counts.withLock { $0.leaves += 1 }
    tell.yield()
    tell.finish()
  }
}

/// A receiving side with its pool, budget and producer.
struct Receiving {
  let pool = SlabPool()
  let budget: MemoryBudget
  let producer = FakeProducer()
  let storage: ResponseBodyStorage
  let watermark: Watermark

  init(_ watermark: Watermark = Watermark(low: 1000, high: 4000), budget: Int = 1 << 30) {
    self.watermark = watermark
    self.budget = MemoryBudget(limit: budget)
    storage = ResponseBodyStorage(pool: pool, budget: self.budget, watermark: watermark)
    storage.attach(producer)
  }

  var reader: ResponseBodyReader { ResponseBodyReader(storage, watermark: watermark) }

  @discardableResult
  func append(_ bytes: [UInt8]) -> ResponseBodyStateMachine.ReceiveAction {
    bytes.withUnsafeBytes { storage.append($0) }
  }

  @discardableResult
  func append(_ count: Int) -> ResponseBodyStateMachine.ReceiveAction {
    append([UInt8](repeating: 7, count: count))
  }

  func end(_ ending: ExchangeEnding = .complete(CopyOnWrite(ExchangeFacts()))) {
    storage.finish(ending)
    storage.flush()
  }
}
