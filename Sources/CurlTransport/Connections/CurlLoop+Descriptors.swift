import PollLoop
import StreamCore

/// When the process has no descriptor left for a socket: wait until one is free, then try again.
extension CurlLoop {
  /// So long a transfer is tried again, if its connect limit doesn't end it before.
  private static let patience: UInt64 = 10_000_000_000
  private static let pause: UInt64 = 50_000_000

  /// Takes a transfer that found no descriptor out of libcurl, to come back later; false when it has waited enough.
  func waitsForDescriptor(_ transfer: Transfer) -> Bool {
    guard let multi, let easy = transfer.easy, transfer.position != nil, transfer.machine.sends == 0,
      transfer.machine.phase == .connecting
    else { return false }
    let since = transfer.starvedSince ?? turn.now
    transfer.starvedSince = since
    guard turn.now &- since < Self.patience else { return false }
    multi.remove(easy)
    // Kept connections hold descriptors: from now on each transfer that ends closes one.
    multi.keepFewest()
    transfer.lacksDescriptor = false
    starved.append(transfer)
    wakeForStarved()
    return true
  }

  private func wakeForStarved() {
    guard !isWakeForStarvedSet else { return }
    isWakeForStarvedSet = true
    let timer = starvedTimer ?? StarvedTimer(self)
    starvedTimer = timer
    _ = timers.schedule(at: turn.now &+ Self.pause, receiver: timer, code: 0)
  }

  /// Lets those that wait for a descriptor try again.
  func retryStarved() {
    isWakeForStarvedSet = false
    guard let multi else { return }
    let waiting = starved
    starved = []
    for transfer in waiting {
      guard let easy = transfer.easy, transfer.position != nil, transfer.machine.phase == .connecting else {
        continue
      }
      if let reason = multi.add(easy) {
        end(transfer, .failure(transfer.error(.outOfResources, "libcurl refused the exchange: \(reason)")))
      }
    }
  }
}

/// Tells a loop that those that wait for a descriptor may try again.
final class StarvedTimer: LoopMessageReceiver {
  private unowned let loop: CurlLoop

  init(_ loop: CurlLoop) { self.loop = loop }

  func receive(_ code: UInt8) { loop.onThread(()) { loop, _ in loop.retryStarved() } }
}
