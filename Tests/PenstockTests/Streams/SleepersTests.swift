import Synchronization
import TestSupport
import Testing

@testable import Penstock

@Suite struct SleepersTests {
  private final class Place: Sendable {
    struct State: Sendable {
      var sleepers = Sleepers<Int>()
      var isNeeded = true
      var entered: Set<Int> = []
    }

    let state = Mutex(State())

    func sleep(_ key: Int) async {
      await state.sleep(key, in: \.sleepers) { state in
        state.entered.insert(key)
        return state.isNeeded
      }
    }

    func hasEntered(_ keys: Set<Int>) -> Bool { state.withLock { $0.entered == keys } }
  }

  @Test func `a sleeper is woken by its key alone, and all at once`() async {
    let place = Place()
    let tasks = (0..<3).map { key in Task { await place.sleep(key) } }
    #expect(await eventually { place.hasEntered([0, 1, 2]) })
    place.state.withLock { $0.sleepers.wake(1) }?.resume()
    await tasks[1].value
    #expect(place.state.withLock { $0.sleepers.wake(1) } == nil)
    let rest = place.state.withLock { $0.sleepers.wakeAll() }
    #expect(rest.count == 2)
    for sleeper in rest { sleeper.resume() }
    for task in tasks { await task.value }
    #expect(place.state.withLock { $0.sleepers.wakeAll() }.isEmpty)
  }

  @Test func `nobody sleeps where there is no need`() async {
    let place = Place()
    place.state.withLock { $0.isNeeded = false }
    await place.sleep(1)
    #expect(place.state.withLock { $0.sleepers.wake(1) } == nil)
  }

  @Test func `cancellation wakes a sleeper, and keeps one from sleeping`() async {
    let place = Place()
    let asleep = Task { await place.sleep(1) }
    #expect(await eventually { place.hasEntered([1]) })
    asleep.cancel()
    await asleep.value
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await place.sleep(2)
    }
    await late.value
    #expect(place.hasEntered([1]) && place.state.withLock { $0.sleepers.wakeAll() }.isEmpty)
  }
}
