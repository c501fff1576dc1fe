import Glibc
import Synchronization

@testable import PollLoop

/// A driver with a settable idea of idle and deadline that records what the loop does with it.
final class RecordingDriver: LoopDriver {
  struct State {
    var isIdle = true
    var deadline: UInt64?
    var tearDowns = 0
    var events: [PollEvent] = []
    var turnedAtDeadline: UInt64?
  }

  let state = LoopLock(State())
  let onTurn: @Sendable (borrowing LoopLock<State>) -> Void
  let onTearDown: @Sendable () -> Void

  init(
    onTurn: @escaping @Sendable (borrowing LoopLock<State>) -> Void = { _ in },
    onTearDown: @escaping @Sendable () -> Void = {}
  ) {
    self.onTurn = onTurn
    self.onTearDown = onTearDown
  }

  var isIdle: Bool { state.withLock { $0.isIdle } }
  var tearDowns: Int { state.withLock { $0.tearDowns } }

  func nextDeadline() -> UInt64? { state.withLock { $0.deadline } }

  func turn(now: UInt64, events: UnsafeBufferPointer<PollEvent>) {
    state.withLock { state in
      state.events.append(contentsOf: events)
      if let deadline = state.deadline, now >= deadline {
        state.turnedAtDeadline = now
        state.deadline = nil
      }
    }
    onTurn(state)
  }

  func afterMessages(now: UInt64) {}

  func tearDown() {
    state.withLock { $0.tearDowns += 1 }
    onTearDown()
  }
}

/// A receiver that is a closure.
final class Receiver: LoopMessageReceiver {
  let body: @Sendable (UInt8) -> Void
  init(_ body: @escaping @Sendable (UInt8) -> Void) { self.body = body }
  func receive(_ code: UInt8) { body(code) }
}

/// Holds the loop thread inside a message until it is let go.
final class Gate: LoopMessageReceiver {
  private let isEntered = Atomic<Bool>(false)
  private let isOpen = Atomic<Bool>(false)

  func receive(_ code: UInt8) {
    isEntered.store(true, ordering: .sequentiallyConsistent)
    spin { isOpen.load(ordering: .sequentiallyConsistent) }
  }

  func waitUntilEntered() { spin { isEntered.load(ordering: .sequentiallyConsistent) } }
  func open() { isOpen.store(true, ordering: .sequentiallyConsistent) }
}

actor LoopActor {
  let executor: LoopExecutor
  private(set) var calls = 0

  init(_ executor: LoopExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func threadID() -> UInt {
    calls += 1
    return currentThread()
  }

  func isHome() -> Bool { executor.isOnLoopThread }

  /// Adds one with a look at the thread in between: wrong when two jobs of the actor overlap.
  func increment() { calls += 1 }
}

func currentThread() -> UInt { UInt(pthread_self()) }

func spin(until condition: () -> Bool) {
  while !condition() { sched_yield() }
}

/// The number of entries of a directory of /proc/self.
func countEntries(_ path: String) -> Int {
  guard let directory = opendir(path) else { return -1 }
  defer { closedir(directory) }
  var count = 0
  while readdir(directory) != nil { count += 1 }
  return count
}

/// Runs the body on a new plain thread and returns when it is done.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await withCheckedContinuation { continuation in
    let left = Counter(count)
    for index in 0..<count {
      do {
        try LoopThread.run(name: "test") {
          body(index)
          if left.decrement() == 0 { continuation.resume() }
        }
      } catch {
        if left.decrement() == 0 { continuation.resume() }
      }
    }
  }
}

final class Counter: Sendable {
  private let value: Atomic<Int>
  init(_ value: Int = 0) { self.value = Atomic(value) }
  var current: Int { value.load(ordering: .sequentiallyConsistent) }
  @discardableResult func increment() -> Int {
    value.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
  }
  @discardableResult func decrement() -> Int {
    value.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
  }
}

/// A started loop, closed and awaited when the body is done.
func withLoop<Result: Sendable>(
  driver: RecordingDriver = RecordingDriver(),
  _ body: @Sendable (LoopExecutor) async throws -> Result
) async throws -> Result {
  let loop = try LoopExecutor(name: "penstock-test")
  try loop.start(driver: driver)
  do {
    let result = try await body(loop)
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    return result
  } catch {
    loop.closeWhenIdle()
    await loop.waitUntilStopped()
    throw error
  }
}
