import Glibc
import Synchronization
import Testing

@testable import PollLoop

@Suite(.timeLimit(.minutes(2))) struct LoopExecutorDoorTests {
  @Test func messagesOfEachThreadArriveInTheirOrder() async throws {
    try await withLoop { loop in
      let threads = 8
      let seen = LoopLock<[[Int]]>(Array(repeating: [], count: threads))
      let all = Counter(threads * 1000)
      await onThreads(threads) { thread in
        for number in 0..<1000 {
          let receiver = Receiver { _ in
            seen.withLock { $0[thread].append(number) }
            all.decrement()
          }
          loop.post(receiver, 0)
        }
      }
      spin { all.current == 0 }
      for list in seen.withLock({ $0 }) { #expect(list == Array(0..<1000)) }
    }
  }

  @Test func messagesAndJobsOfOneThreadKeepTheirCommonOrder() async throws {
    try await withLoop { loop in
      let seen = Log()
      let executor = LoopTaskExecutor(loop)
      let gate = Gate()
      loop.post(gate, 0)
      gate.waitUntilEntered()
      var tasks: [Task<Void, Never>] = []
      for number in 0..<500 {
        if number.isMultiple(of: 2) {
          loop.post(Receiver { _ in seen.append(number) }, 0)
        } else {
          tasks.append(Task(executorPreference: executor) { seen.append(number) })
        }
      }
      gate.open()
      for task in tasks { await task.value }
      #expect(seen.all == Array(0..<500))
    }
  }

  @Test func theCodeArrivesWithItsReceiver() async throws {
    try await withLoop { loop in
      let code = await withCheckedContinuation { continuation in
        loop.post(Receiver { continuation.resume(returning: $0) }, 42)
      }
      #expect(code == 42)
    }
  }

  @Test func aLoopThatIsAwakeIsNotWoken() async throws {
    try await withLoop { loop in
      let gate = Gate()
      loop.post(gate, 0)
      gate.waitUntilEntered()
      let written = loop.metrics.wakeUpsWritten
      let arrived = Counter()
      await onThreads(4) { _ in
        for _ in 0..<1000 { loop.post(Receiver { _ in arrived.increment() }, 0) }
      }
      #expect(loop.metrics.wakeUpsWritten == written)
      gate.open()
      spin { arrived.current == 4000 }
    }
  }

  @Test func atMostOneWakeUpIsWrittenBetweenTwoSleeps() async throws {
    try await withLoop { loop in
      let arrived = Counter()
      await onThreads(4) { _ in
        for _ in 0..<2000 { loop.post(Receiver { _ in arrived.increment() }, 0) }
      }
      spin { arrived.current == 8000 }
      #expect(loop.metrics.wakeUpsWritten <= loop.metrics.blockingWaits)
    }
  }

  @Test func aSleepingLoopIsWokenByOneMessageAndWrittenToOnce() async throws {
    try await withLoop { loop in
      for _ in 0..<200 {
        let waits = loop.metrics.blockingWaits
        let written = loop.metrics.wakeUpsWritten
        await withCheckedContinuation { continuation in
          loop.post(Receiver { _ in continuation.resume() }, 0)
        }
        #expect(loop.metrics.wakeUpsWritten <= written + 1)
        spin { loop.metrics.blockingWaits > waits }
      }
    }
  }

  @Test func aMessagePostedByAMessageIsServedInTheSameTurn() async throws {
    try await withLoop { loop in
      let turns: (Int, Int) = await withCheckedContinuation { continuation in
        let outer = Receiver { _ in
          let before = loop.metrics.turns
          loop.post(Receiver { _ in continuation.resume(returning: (before, loop.metrics.turns)) }, 0)
        }
        loop.post(outer, 0)
      }
      #expect(turns.0 == turns.1)
    }
  }

  @Test func messagesThatNeverEndLeaveDescriptorsTheirTurn() async throws {
    let isServed = Atomic<Bool>(false)
    let driver = RecordingDriver(onTurn: { state in
      if state.withLock({ !$0.events.isEmpty }) { isServed.store(true, ordering: .relaxed) }
    })
    try await withLoop(driver: driver) { loop in
      let ends = Pipe()
      let again = Repeater(loop) { !isServed.load(ordering: .relaxed) }
      loop.post(Receiver { _ in loop.poller.set(fd: ends.read, readable: true, writable: false) }, 0)
      loop.post(again, 0)
      ends.send()
      spin { isServed.load(ordering: .relaxed) }
      await withTaskExecutorPreference(loop) { loop.poller.remove(fd: ends.read) }
    }
  }

  @Test func aDeadlineTurnsTheLoopWithoutAnyDescriptor() async throws {
    let driver = RecordingDriver()
    try await withLoop(driver: driver) { loop in
      let deadline = LoopExecutor.monotonicNow() + 3_000_000
      loop.post(Receiver { _ in driver.state.withLock { $0.deadline = deadline } }, 0)
      spin { driver.state.withLock { $0.turnedAtDeadline != nil } }
      #expect(driver.state.withLock { $0.turnedAtDeadline ?? 0 } >= deadline)
    }
  }

  final class Log: Sendable {
    private let values = LoopLock<[Int]>([])
    var all: [Int] { values.withLock { $0 } }
    func append(_ value: Int) { values.withLock { $0.append(value) } }
  }

  /// Posts itself anew for as long as it is wanted.
  final class Repeater: LoopMessageReceiver {
    let loop: LoopExecutor
    let isWanted: @Sendable () -> Bool

    init(_ loop: LoopExecutor, while isWanted: @escaping @Sendable () -> Bool) {
      self.loop = loop
      self.isWanted = isWanted
    }

    func receive(_ code: UInt8) { if isWanted() { loop.post(self, code) } }
  }

  final class Pipe: Sendable {
    let read: Int32
    let write: Int32

    init() {
      var ends: [Int32] = [-1, -1]
      _ = pipe(&ends)
      (read, write) = (ends[0], ends[1])
    }

    deinit {
      close(read)
      close(write)
    }

    func send() { _ = Glibc.write(write, "x", 1) }
  }
}
