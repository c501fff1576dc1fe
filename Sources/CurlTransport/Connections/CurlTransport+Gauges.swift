import PollLoop

extension CurlTransport {
  /// Connections of all loops, and who waits for admission.
  package func connectionCounts() async -> (open: Int, inUse: Int, queued: [String: Int]) {
    var open = 0
    var inUse = 0
    for loop in currentLoops {
      let counts = await loop.connectionCounts
      open += counts.open
      inUse += counts.inUse
    }
    return (open, inUse, admission.waitingByOrigin)
  }
}

extension CurlLoop {
  var connectionCounts: (open: Int, inUse: Int) {
    var ports: Set<Int32> = []
    var connecting = 0
    for transfer in running {
      if transfer.machine.sends > 0 {
        ports.insert(transfer.localPort)
      } else if transfer.machine.phase == .connecting, transfer.starvedSince == nil {
        connecting += 1
      }
    }
    return (executor.poller.openSockets, ports.count + connecting)
  }
}
