import PollLoop

/// Calls back from a loop's thread after a short time, so that what comes meanwhile is told of together. Costs no
/// thread, no task and no descriptor.
///
/// A loop that ends drops the calls that are still due: nothing may hang on one alone.
package final class LoopAlarm: LoopMessageReceiver {
  private let loop: CurlLoop
  private let delay: UInt64
  private let rings: @Sendable () -> Void

  private static let set: UInt8 = 0
  private static let ring: UInt8 = 1

  init(_ loop: CurlLoop, delay: UInt64, rings: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.delay = delay
    self.rings = rings
  }

  /// From any thread. False when the loop has ended: then it never rings.
  package func set() -> Bool { loop.executor.post(self, Self.set) }

  package func receive(_ code: UInt8) {
    guard code == Self.set else { return rings() }
    loop.onThread(self) { loop, alarm in
      _ = loop.timers.schedule(
        at: LoopExecutor.monotonicNow() &+ alarm.delay, receiver: alarm, code: Self.ring)
    }
  }
}

extension CurlTransport {
  /// An alarm on the first loop, nanoseconds after it is set; nil before the first request and after the end.
  package func alarm(after delay: UInt64, rings: @escaping @Sendable () -> Void) -> LoopAlarm? {
    guard let loop = currentLoops.first else { return nil }
    return LoopAlarm(loop, delay: delay, rings: rings)
  }
}
