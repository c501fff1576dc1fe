import Synchronization
import Testing

@testable import StreamCore

@Suite(.timeLimit(.minutes(1))) struct BodyPollTests {
  /// Counts wake-ups.
  private final class Wakes: Sendable {
    let count = Mutex(0)
    var seen: Int { count.withLock { $0 } }
    func wake() { count.withLock { $0 += 1 } }
  }

  private func text(_ poll: BodyPoll) -> String {
    switch poll {
    case .chunk(let chunk): "chunk \(chunk.count)"
    case .end: "end"
    case .failed(let error): "failed \(error.kind.rawValue)"
    case .wait: "wait"
    }
  }

  @Test func `a body that has nothing says so, and wakes once when there is news`() {
    let receiving = Receiving()
    let reader = receiving.reader
    let wakes = Wakes()
    #expect(text(reader.poll { wakes.wake() }) == "wait")
    receiving.append(10)
    #expect(wakes.seen == 0, "news is told at the end of the producer's turn")
    receiving.storage.flush()
    receiving.storage.flush()
    #expect(wakes.seen == 1)
    #expect(text(reader.poll { wakes.wake() }) == "chunk 10")
    #expect(text(reader.poll { wakes.wake() }) == "wait")
    receiving.end()
    #expect(wakes.seen == 2)
    #expect(text(reader.poll { wakes.wake() }) == "end")
    #expect(wakes.seen == 2)
  }

  @Test func `what is there is taken without a wake-up, and gives credit`() {
    let receiving = Receiving(Watermark(low: 1000, high: 4000))
    let reader = receiving.reader
    let wakes = Wakes()
    receiving.append(5000)
    receiving.storage.flush()
    #expect(text(reader.poll { wakes.wake() }) == "chunk 5000")
    #expect(receiving.producer.resumes == 1)
    #expect(wakes.seen == 0)
  }

  @Test func `a failure is told behind what came before`() {
    let receiving = Receiving()
    let reader = receiving.reader
    receiving.append(10)
    receiving.end(.failure(HTTPError(.truncated, phase: .body, message: "cut")))
    #expect(text(reader.poll {}) == "chunk 10")
    #expect(text(reader.poll {}) == "failed truncated")
    #expect(text(reader.poll {}) == "failed truncated")
  }

  @Test func `giving up wakes who waits`() {
    let receiving = Receiving()
    let reader = receiving.reader
    let wakes = Wakes()
    #expect(text(reader.poll { wakes.wake() }) == "wait")
    reader.abandon()
    #expect(wakes.seen == 1)
    #expect(receiving.producer.leaves == 1)
    #expect(text(reader.poll {}) == "failed cancelled")
  }

  @Test func `a source that can't be asked is waited for in a task`() async {
    let source = TaskPolledSource.pollable(FixedBodySource(BodyChunk([1, 2, 3])))
    let (news, tell) = AsyncStream<Void>.makeStream()
    var wakes = news.makeAsyncIterator()
    #expect(text(source.poll { tell.yield() }) == "wait")
    await wakes.next()
    #expect(text(source.poll { tell.yield() }) == "chunk 3")
    #expect(text(source.poll { tell.yield() }) == "wait")
    await wakes.next()
    #expect(text(source.poll { tell.yield() }) == "end")
  }
}
