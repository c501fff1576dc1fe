import PollLoop
import StreamCore

extension CurlLoop {
  func cleanUp() {
    for transfer in running { finishAtEnd(transfer) }
    idle = IdleHandles()
    multi = nil
    share = nil
  }

  private func finishAtEnd(_ transfer: Transfer) {
    end(transfer, .failure(transfer.error(.shutdown, Self.shutdownMessage)))
    // An abandoned look-up is still in libcurl.
    if transfer.position != nil { detach(transfer) }
  }

  /// Fails everything that is under way here, at once.
  func failAll() {
    turn.now = LoopExecutor.monotonicNow()
    hasFailedAll = true
    for transfer in turn.lookups.takeAllWaiters() {
      end(transfer, .failure(transfer.error(.shutdown, Self.shutdownMessage)))
    }
    for released in turn.released {
      end(released.transfer, .failure(released.transfer.error(.shutdown, Self.shutdownMessage)))
    }
    startReleased()
    for transfer in running where transfer.machine.phase != .abandoned {
      end(transfer, .failure(transfer.error(.shutdown, Self.shutdownMessage)))
    }
    endOfTurn()
  }
}
