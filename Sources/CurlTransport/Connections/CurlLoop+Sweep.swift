import PollLoop

/// Kept connections end when their time is over, also when no transfer comes any more.
extension CurlLoop {
  /// A connection may be kept from now on.
  func connectionLeft() {
    if case .wake(let at) = sweeps.connectionLeft(now: turn.now) { wakeForSweep(at: at) }
  }

  private func wakeForSweep(at time: UInt64) {
    let timer = sweepTimer ?? SweepTimer(self)
    sweepTimer = timer
    _ = timers.schedule(at: time, receiver: timer, code: 0)
  }

  func sweep() {
    guard let multi else { return }
    SweepHandle(age)?.run(on: multi)
    if case .wake(let at) = sweeps.swept(kept: executor.poller.openSockets > 0, now: turn.now) {
      wakeForSweep(at: at)
    }
  }
}
