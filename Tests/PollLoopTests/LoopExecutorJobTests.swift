import Glibc
import Testing

@testable import PollLoop

@Suite(.timeLimit(.minutes(2))) struct LoopExecutorJobTests {
  /// What a task prefers: the loop's own executor, or the one that knows that its jobs are tasks'.
  enum Preference: CaseIterable, Sendable {
    case loop, task

    func executor(of loop: LoopExecutor) -> any TaskExecutor {
      switch self {
      case .loop: loop
      case .task: LoopTaskExecutor(loop)
      }
    }
  }

  @Test func anActorsMethodsRunOnTheLoopThread() async throws {
    try await withLoop { loop in
      let actor = LoopActor(loop)
      #expect(await actor.isHome())
      #expect(!loop.isOnLoopThread)
      #expect(await actor.threadID() == actor.threadID())
    }
  }

  @Test(arguments: Preference.allCases)
  func aTaskThatPrefersTheLoopRunsOnIt(_ preference: Preference) async throws {
    try await withLoop { loop in
      await withTaskExecutorPreference(preference.executor(of: loop)) {
        #expect(loop.isOnLoopThread)
        await Task.yield()
        #expect(loop.isOnLoopThread)
      }
      let isHome = await Task(executorPreference: preference.executor(of: loop)) { loop.isOnLoopThread }.value
      #expect(isHome)
    }
  }

  @concurrent static func concurrentThread() async -> UInt { currentThread() }

  @Test(arguments: Preference.allCases)
  func anActorCalledFromATaskThatPrefersTheLoopStaysOnItsThread(_ preference: Preference) async throws {
    try await withLoop { loop in
      let actor = LoopActor(loop)
      await withTaskExecutorPreference(preference.executor(of: loop)) {
        let home = currentThread()
        for _ in 0..<100 {
          #expect(await actor.threadID() == home)
          #expect(currentThread() == home)
          #expect(await Self.concurrentThread() == home)
        }
        async let child = Self.concurrentThread()
        #expect(await child == home)
      }
    }
  }

  @Test(arguments: Preference.allCases)
  func theWayFromATaskOnTheLoopToItsActorAndBackNeedsNoWakeUp(_ preference: Preference) async throws {
    try await withLoop { loop in
      let actor = LoopActor(loop)
      await withTaskExecutorPreference(preference.executor(of: loop)) {
        let written = loop.metrics.wakeUpsWritten
        let waits = loop.metrics.blockingWaits
        for _ in 0..<1000 { _ = await actor.threadID() }
        #expect(loop.metrics.wakeUpsWritten == written)
        #expect(loop.metrics.blockingWaits == waits)
      }
    }
  }

  @Test func theActorsIsolationHoldsInMessagesAndDriverCalls() async throws {
    let loop = try LoopExecutor(name: "isolation")
    let actor = LoopActor(loop)
    let turns = Counter()
    let driver = RecordingDriver(
      onTurn: { _ in actor.assumeIsolated { _ in _ = turns.increment() } },
      onTearDown: { actor.assumeIsolated { _ in _ = turns.increment() } })
    try loop.start(driver: driver)
    let home = await withCheckedContinuation { continuation in
      loop.post(
        Receiver { _ in
          continuation.resume(returning: actor.assumeIsolated { $0.executor.isOnLoopThread })
        }, 0)
    }
    #expect(home)
    #expect(loop.isIsolatingCurrentContext() == false)
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    #expect(turns.current >= 1)
    #expect(driver.tearDowns == 1)
  }

  @Test(arguments: Preference.allCases)
  func theActorsIsolationHoldsInATaskThatPrefersTheLoop(_ preference: Preference) async throws {
    try await withLoop { loop in
      let actor = LoopActor(loop)
      await withTaskExecutorPreference(preference.executor(of: loop)) {
        Self.plainCall { actor.assumeIsolated { $0.increment() } }
      }
      #expect(await actor.calls == 1)
    }
  }

  static func plainCall(_ body: () -> Void) { body() }

  @Test(arguments: Preference.allCases)
  func manyTasksOnOneActorLoseNothing(_ preference: Preference) async throws {
    try await withLoop { loop in
      let actor = LoopActor(loop)
      await withTaskGroup { group in
        for _ in 0..<50 {
          group.addTask { for _ in 0..<100 { await actor.increment() } }
          group.addTask(executorPreference: preference.executor(of: loop)) {
            for _ in 0..<100 { await actor.increment() }
          }
        }
      }
      #expect(await actor.calls == 10_000)
    }
  }

  @Test(arguments: Preference.allCases)
  func jobsThatArriveBeforeTheStartRunAfterIt(_ preference: Preference) async throws {
    let loop = try LoopExecutor(name: "early")
    let early = Task(executorPreference: preference.executor(of: loop)) { loop.isOnLoopThread }
    try loop.start(driver: RecordingDriver())
    #expect(await early.value)
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
  }

  @Test(arguments: Preference.allCases)
  func jobsAfterTheEndStillRunOneAtATime(_ preference: Preference) async throws {
    let loop = try LoopExecutor(name: "late")
    let actor = LoopActor(loop)
    try loop.start(driver: RecordingDriver())
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    await withTaskGroup { group in
      for _ in 0..<20 {
        group.addTask { for _ in 0..<50 { await actor.increment() } }
        group.addTask(executorPreference: preference.executor(of: loop)) {
          for _ in 0..<50 { await actor.increment() }
        }
      }
    }
    #expect(await actor.calls == 2000)
    #expect(await actor.isHome())
    #expect(!loop.isOnLoopThread)
  }

  @Test(arguments: Preference.allCases)
  func jobsOfALoopThatNeverStartedRunOnceItIsClosed(_ preference: Preference) async throws {
    let loop = try LoopExecutor(name: "never")
    let task = Task(executorPreference: preference.executor(of: loop)) { 7 }
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    #expect(await task.value == 7)
  }

  @Test(arguments: Preference.allCases)
  func aTaskOnTheLoopCanWaitForItsEnd(_ preference: Preference) async throws {
    let loop = try LoopExecutor(name: "inside")
    let driver = RecordingDriver()
    try loop.start(driver: driver)
    await withTaskExecutorPreference(preference.executor(of: loop)) {
      loop.closeWhenIdle()
      await loop.waitUntilStopped()
      #expect(driver.tearDowns == 1)
    }
    let actor = LoopActor(loop)
    #expect(await actor.isHome())
  }

  @Test(arguments: Preference.allCases)
  func aTaskThatKeepsYieldingDoesNotKeepTheLoopFromEnding(_ preference: Preference) async throws {
    let loop = try LoopExecutor(name: "busy")
    let driver = RecordingDriver()
    try loop.start(driver: driver)
    await withTaskGroup { group in
      group.addTask(executorPreference: preference.executor(of: loop)) {
        while driver.tearDowns == 0 { await Task.yield() }
      }
      loop.closeWhenIdle()
      await loop.waitUntilStopped()
    }
    #expect(driver.tearDowns == 1)
  }
}
