/// What a loop thread drives once per turn. All calls come on the loop thread.
package protocol LoopDriver: AnyObject, Sendable {
  /// The earliest instant (`LoopExecutor.monotonicNow`, nanoseconds) at which `turn` is wanted even when no
  /// descriptor is ready; nil when there is none.
  func nextDeadline() -> UInt64?

  /// Called once per turn after the wait, with the descriptors that are ready (maybe none). Handling one
  /// event can end the registration of a later one: ask `Poller.isCurrent` right before using an event.
  func turn(now: UInt64, events: UnsafeBufferPointer<PollEvent>)

  /// Messages and jobs of this turn have run; the wait comes next. For work that needs no waiting.
  func afterMessages(now: UInt64)

  /// Whether no work is open any more: a loop that is closing ends once this is true.
  var isIdle: Bool { get }

  /// The last call before the thread ends; the poller still works.
  func tearDown()
}
