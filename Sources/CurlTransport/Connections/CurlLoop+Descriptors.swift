import PollLoop
import StreamCore

/// When the process has no descriptor left: transfers wait in line until one is free (decision 41).
extension CurlLoop {
  /// So long a transfer waits while no transfer of the loop gets a socket.
  private static let patience: UInt64 = 10_000_000_000
  private static let pause: UInt64 = 50_000_000
  private static let betweenCalls: UInt64 = 100_000_000
  private static let giving: UInt64 = 1_000_000_000

  /// Takes a transfer that found no descriptor out of libcurl, to come back later; false when it has waited enough.
  func waitsForDescriptor(_ transfer: Transfer, code: Int) -> Bool {
    guard lacksDescriptor(transfer, code: code), let multi, let easy = transfer.easy,
      transfer.position != nil, transfer.machine.mayConnectAgain
    else { return false }
    if transfer.starvedSince == nil { transfer.starvedSince = turn.now }
    guard hasPatience(transfer) else { return false }
    multi.remove(easy)
    multi.holdConnections()
    // A look-up or a file needs some that libcurl knows nothing of.
    if code != 7 { giveAway(multi) }
    if turn.now &- shortage.lastAsked >= Self.betweenCalls {
      shortage.lastAsked = turn.now
      relief.ask(for: self)
    }
    transfer.lacksDescriptor = false
    // It was the first in line, or would have been.
    shortage.line.insert(transfer, at: 0)
    wakeForShortage()
    return true
  }

  /// libcurl tells of sockets alone; look-ups and files of roots fail in their own words.
  private func lacksDescriptor(_ transfer: Transfer, code: Int) -> Bool {
    switch code {
    case 7: transfer.lacksDescriptor
    case 5, 6, 77: transfer.machine.sends == 0 && DescriptorLimit.isReached
    default: false
    }
  }

  /// A new transfer goes behind those that wait already: it would take what they wait for.
  func waitsInLine(_ transfer: Transfer) -> Bool {
    guard multi?.isShort == true else { return false }
    transfer.starvedSince = turn.now
    if shortage.line.isEmpty { return false }
    shortage.line.append(transfer)
    return true
  }

  func hasPatience(_ transfer: Transfer) -> Bool {
    guard let since = transfer.starvedSince else { return false }
    return turn.now &- max(since, turn.lastSocket) < Self.patience
  }

  private func wakeForShortage() {
    guard !shortage.isTimerSet else { return }
    shortage.isTimerSet = true
    let timer = shortage.timer ?? ShortageTimer(self)
    shortage.timer = timer
    _ = timers.schedule(at: turn.now &+ Self.pause, receiver: timer, code: 0)
  }

  func shortageTimerCame() {
    shortage.isTimerSet = false
    guard let multi, multi.isShort else { return }
    if shortage.line.isEmpty { multi.allowOneMore() }
    letFirstTry()
    wakeForShortage()
  }

  /// Lets the first of those that wait for a descriptor try again; when it gets one, the next follows.
  func letFirstTry() {
    turn.mayHaveDescriptor = false
    guard let multi else { return }
    while !shortage.line.isEmpty {
      let transfer = shortage.line.removeFirst()
      guard let easy = transfer.easy, transfer.position != nil, transfer.machine.mayConnectAgain else {
        continue
      }
      transfer.deadlines.began(at: turn.now)
      guard let reason = multi.add(easy) else { return }
      end(transfer, .failure(transfer.error(.outOfResources, "libcurl refused the exchange: \(reason)")))
    }
  }

  /// Another loop has no descriptor left.
  func closeKept() {
    turn.now = LoopExecutor.monotonicNow()
    if let multi { giveAway(multi) }
  }

  /// Closes what nobody uses, now and for a while.
  private func giveAway(_ multi: MultiHandle) {
    shortage.givesUntil = turn.now &+ Self.giving
    multi.giveAway(true)
    multi.closeUnused()
  }

  /// The want of descriptors is over when no transfer runs.
  func checkShortage() {
    guard let multi, multi.isShort else { return }
    if running.isEmpty {
      shortage.givesUntil = 0
      return multi.endShortage()
    }
    if shortage.givesUntil != 0, turn.now >= shortage.givesUntil {
      shortage.givesUntil = 0
      multi.giveAway(false)
    }
  }
}
