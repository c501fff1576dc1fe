import PollLoop

/// Tells a loop that a sweep is due.
final class SweepTimer: LoopMessageReceiver {
  private unowned let loop: CurlLoop

  init(_ loop: CurlLoop) { self.loop = loop }

  func receive(_ code: UInt8) { loop.onThread(()) { loop, _ in loop.sweep() } }
}
