import Testing
import TestSupport

@testable import Penstock

struct BatchPaceTests {
  @Test("a consumer is woken at once where few exchanges run", arguments: 0..<8)
  func few(running: Int) {
    var pace = BatchPace()
    #expect(pace.news(ready: 1, running: running) == .wake)
  }

  @Test("results wait for others until a quarter of what runs is ready")
  func quarter() {
    var pace = BatchPace()
    #expect(pace.news(ready: 1, running: 64) == .setAlarm)
    for ready in 2..<16 { #expect(pace.news(ready: ready, running: 64) == .wait) }
    #expect(pace.news(ready: 16, running: 64) == .wake)
  }

  @Test("with thousands of exchanges 32 results are enough")
  func most() {
    var pace = BatchPace()
    #expect(pace.news(ready: 31, running: 4096) == .setAlarm)
    #expect(pace.news(ready: 32, running: 4096) == .wake)
  }

  @Test("the alarm wakes the consumer for what there is, and can be set again")
  func alarm() {
    var pace = BatchPace()
    #expect(pace.news(ready: 1, running: 64) == .setAlarm)
    pace.rings()
    #expect(pace.news(ready: 1, running: 64) == .wake)
    #expect(pace.news(ready: 1, running: 64) == .setAlarm)
  }

  @Test("one alarm is set at a time, also after a wake without it")
  func oneAlarm() {
    var pace = BatchPace()
    #expect(pace.news(ready: 1, running: 64) == .setAlarm)
    #expect(pace.news(ready: 16, running: 64) == .wake)
    #expect(pace.news(ready: 1, running: 64) == .wait)
  }

  @Test(
    "no result waits without an alarm that will ring, whatever happens", arguments: 0..<50 as Range<UInt64>)
  func random(seed: UInt64) {
    var numbers = SeededGenerator(seed: seed)
    var pace = BatchPace()
    var isSet = false
    for _ in 0..<500 {
      let running = Int.random(in: 0...200, using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0 where isSet:
        pace.rings()
        isSet = false
      default:
        switch pace.news(ready: Int.random(in: 1...64, using: &numbers), running: running) {
        case .wake: break
        case .setAlarm:
          #expect(!isSet)
          isSet = true
        case .wait: #expect(isSet)
        }
      }
    }
  }
}
