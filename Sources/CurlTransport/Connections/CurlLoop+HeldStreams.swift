import StreamCore

/// Streams that their readers hold. libcurl takes in up to a whole window of a held HTTP/2 stream while another stream
/// of its connection runs. A lone held stream costs nothing: its connection isn't read.
extension CurlLoop {
  /// Pauses libcurl between two receives, where it holds nothing that it would have to copy aside.
  func pauseHeld() {
    guard !turn.heldList.isEmpty else { return }
    for transfer in turn.heldList where transfer.machine.allTaken() == .pause {
      // Both directions where nothing is sent: with one alone 7.88 forces a receive, which it must copy aside.
      let sending = transfer.machine.phase == .receiving && transfer.upload == nil
      _ = transfer.easy?.setPaused(receiving: true, sending: sending || transfer.machine.isSendPaused)
      if transfer.isOnHTTP2 { transfer.easy?.watchEnd() }
    }
    turn.heldList.removeAll(keepingCapacity: true)
  }

  /// The window that libcurl gives each stream.
  private static let streamWindow: Int64 = 32 << 20

  /// Whether a new exchange must not run beside the held streams of its host: what libcurl might take in for them is
  /// more than the client's memory budget has left, and the host may have another connection.
  func needsOwnConnection(_ transfer: Transfer) -> Bool {
    guard turn.mayHaveHeldStreams, transfer.isSecure else { return false }
    var isAnyHeld = false
    var cost: Int64 = 0
    var ports: Set<Int32> = []
    var opening = 0
    for other in running {
      if other.isOnHTTP2, other.machine.isHeld { isAnyHeld = true }
      guard other.url.origin == transfer.url.origin else { continue }
      if other.machine.sends == 0 { opening += 1 } else { ports.insert(other.localPort) }
      guard other.isOnHTTP2, other.machine.isHeld else { continue }
      cost += min(Self.streamWindow, other.outstanding ?? Self.streamWindow)
    }
    turn.mayHaveHeldStreams = isAnyHeld
    guard cost > 0, ports.count + opening < connectionsPerHost else { return false }
    return Int64(budget.used) + cost > Int64(budget.limit)
  }
}
