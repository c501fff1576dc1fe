import Glibc
import Synchronization
import Testing

@testable import PollLoop

/// Serialised, as it counts the descriptors and threads of the process.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LoopExecutorLifeTests {
  @Test func aLoopEndsOnlyWhenItsDriverIsIdle() async throws {
    let driver = RecordingDriver()
    driver.state.withLock { $0.isIdle = false }
    let loop = try LoopExecutor(name: "graceful")
    try loop.start(driver: driver)
    loop.closeWhenIdle()
    // Still taken: open work can be told to end.
    let taken = await withCheckedContinuation { continuation in
      loop.post(Receiver { _ in continuation.resume(returning: driver.tearDowns) }, 0)
    }
    #expect(taken == 0)
    loop.post(Receiver { _ in driver.state.withLock { $0.isIdle = true } }, 0)
    await loop.waitUntilStopped()
    #expect(driver.tearDowns == 1)
    #expect(!loop.post(Receiver { _ in }, 0))
  }

  @Test func messagesTakenBeforeTheCloseAreServedBeforeTheTearDown() async throws {
    let served = Counter()
    let servedAtTearDown = Counter()
    let driver = RecordingDriver(onTearDown: { for _ in 0..<served.current { servedAtTearDown.increment() } })
    let loop = try LoopExecutor(name: "order")
    try loop.start(driver: driver)
    for _ in 0..<100 { loop.post(Receiver { _ in served.increment() }, 0) }
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    #expect(servedAtTearDown.current == 100)
  }

  @Test func everyMessageIsEitherServedOrRefused() async throws {
    for _ in 0..<100 {
      let loop = try LoopExecutor(name: "race")
      try loop.start(driver: RecordingDriver())
      let served = Counter()
      let taken = Counter()
      await onThreads(3) { thread in
        for number in 0..<50 {
          if loop.post(Receiver { _ in served.increment() }, 0) { taken.increment() }
          if thread == 0, number == 25 { loop.closeWhenIdle() }
        }
      }
      await loop.waitUntilStopped()
      #expect(served.current == taken.current)
    }
  }

  @Test func everyoneWhoWaitsForTheEndHearsOfIt() async throws {
    let driver = RecordingDriver()
    driver.state.withLock { $0.isIdle = false }
    let loop = try LoopExecutor(name: "waiters")
    try loop.start(driver: driver)
    await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { await loop.waitUntilStopped() } }
      for _ in 0..<20 { group.addTask(executorPreference: loop) { await loop.waitUntilStopped() } }
      loop.closeWhenIdle()
      loop.post(Receiver { _ in driver.state.withLock { $0.isIdle = true } }, 0)
    }
    #expect(driver.tearDowns == 1)
    await loop.waitUntilStopped()
  }

  @Test func aLoopStartsOnce() throws {
    let loop = try LoopExecutor(name: "once")
    try loop.start(driver: RecordingDriver())
    #expect(throws: PollLoopError.notStartable) { try loop.start(driver: RecordingDriver()) }
    loop.closeWhenIdle()
    #expect(throws: PollLoopError.notStartable) { try loop.start(driver: RecordingDriver()) }
  }

  @Test func messagesOfALoopThatNeverStartedAreRefusedOnceItIsClosed() async throws {
    let loop = try LoopExecutor(name: "never")
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    #expect(!loop.post(Receiver { _ in }, 0))
    #expect(throws: PollLoopError.notStartable) { try loop.start(driver: RecordingDriver()) }
  }

  @Test func thePollerStillWorksDuringTheTearDown() async throws {
    let loop = try LoopExecutor(name: "poller")
    let worked = Atomic<Bool>(false)
    let pair = PollerTests.SocketPair()
    let near = pair.near
    try loop.start(
      driver: RecordingDriver(onTearDown: { [weak loop] in
        let done = loop?.poller.set(fd: near, readable: true, writable: false) ?? false
        loop?.poller.remove(fd: near)
        worked.store(done, ordering: .relaxed)
      }))
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    let hasWorked = worked.load(ordering: .relaxed)
    #expect(hasWorked)
    withExtendedLifetime(pair) {}
  }

  @Test func theLoopThreadHasItsNameAndBlocksAllSignalsAndItsCreatorsMaskStays() async throws {
    let before = Self.blockedSignals()
    let seen: (name: String, blocked: Set<Int32>) = try await withLoop { loop in
      await withCheckedContinuation { continuation in
        loop.post(
          Receiver { _ in
            continuation.resume(returning: (Self.threadName(), Self.blockedSignals()))
          }, 0)
      }
    }
    #expect(seen.name == "penstock-test")
    #expect(seen.blocked.isSuperset(of: [SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM]))
    try LoopThread.run(name: "mask") {}
    #expect(Self.blockedSignals() == before || !Self.blockedSignals().contains(SIGTERM))
  }

  @Test func theLastReferenceMayGoOnTheLoopThread() async throws {
    let gate = Gate()
    let gone = Counter()
    try Self.leaveToTheLoop(gate, gone)
    // From here on the loop thread alone holds the loop and the witness.
    gate.open()
    spin { gone.current == 1 }
  }

  @Test func aThousandLoopsLeaveNoDescriptorAndNoThreadBehind() async throws {
    // One first, so that what the runtime creates once is there.
    try await withLoop { _ in }
    let descriptors = countEntries("/proc/self/fd")
    for round in 0..<1000 {
      let loop = try LoopExecutor(name: "cycle")
      let driver = RecordingDriver()
      try loop.start(driver: driver)
      loop.post(Receiver { _ in }, 0)
      if round.isMultiple(of: 2) {
        await withTaskExecutorPreference(loop) { loop.closeWhenIdle() }
      } else {
        loop.closeWhenIdle()
      }
      await loop.waitUntilStopped()
      #expect(driver.tearDowns == 1)
    }
    spin { Self.threads(named: "cycle") == 0 }
    spin { countEntries("/proc/self/fd") <= descriptors + 16 }
  }

  /// Counts when it goes on the loop thread.
  final class Witness: LoopMessageReceiver {
    let loop: LoopExecutor
    let gone: Counter

    init(_ loop: LoopExecutor, _ gone: Counter) {
      self.loop = loop
      self.gone = gone
    }

    deinit { if loop.isOnLoopThread { gone.increment() } }

    func receive(_ code: UInt8) { loop.closeWhenIdle() }
  }

  static func leaveToTheLoop(_ gate: Gate, _ gone: Counter) throws {
    let loop = try LoopExecutor(name: "drop")
    try loop.start(driver: RecordingDriver())
    loop.post(gate, 0)
    loop.post(Witness(loop, gone), 0)
  }

  static func threadName() -> String {
    var bytes = [UInt8](repeating: 0, count: 64)
    let fd = open("/proc/thread-self/comm", O_RDONLY)
    defer { close(fd) }
    let count = read(fd, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
  }

  static func threads(named name: String) -> Int {
    guard let directory = opendir("/proc/self/task") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
      let task = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      var bytes = [UInt8](repeating: 0, count: 64)
      let fd = open("/proc/self/task/\(task)/comm", O_RDONLY)
      guard fd >= 0 else { continue }
      let length = read(fd, &bytes, bytes.count)
      close(fd)
      if String(decoding: bytes.prefix(max(0, length - 1)), as: UTF8.self) == name { count += 1 }
    }
    return count
  }

  static func blockedSignals() -> Set<Int32> {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    return Set((1..<32).filter { sigismember(&mask, $0) == 1 })
  }
}
