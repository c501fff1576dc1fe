import Synchronization

/// What the callbacks of one loop's turn share: the time, a count of moved bytes, who has news, and the
/// look-ups under way.
final class LoopTurn: @unchecked Sendable {
  // Sendable: used on the loop thread alone.
  /// Monotonic nanoseconds, read once a turn.
  @safe @exclusivity(unchecked) var now: UInt64 = 0
  /// Rises with every byte, line or head that moves.
  @safe @exclusivity(unchecked) var progress: UInt64 = 0
  /// Transfers whose readers are woken when the turn's socket actions are done.
  @safe @exclusivity(unchecked) var flushList: [Transfer] = []
  /// Transfers whose streams asked to hold in this turn.
  @safe @exclusivity(unchecked) var heldList: [Transfer] = []
  @safe @exclusivity(unchecked) var connections = KnownConnections()
  /// When a transfer got a socket last.
  @safe @exclusivity(unchecked) var lastSocket: UInt64 = 0
  /// Whether a transfer that waits for a descriptor may find one.
  @safe @exclusivity(unchecked) var mayHaveDescriptor = false
  /// Whether an HTTP/2 stream was held and may be still.
  @safe @exclusivity(unchecked) var mayHaveHeldStreams = false
  /// Transfers over HTTP/2 without an answer whose uploads have nothing to send.
  @safe @exclusivity(unchecked) var unanswered: [Transfer] = []
  var lookups: LookupGate<Transfer>
  @safe @exclusivity(unchecked) var certificates = CertificateMemory()
  /// Transfers that may go on since a look-up has ended; started outside libcurl's callbacks.
  @safe @exclusivity(unchecked) var released: [(transfer: Transfer, leads: String?)] = []

  /// Exchanges on the loop, readable from any thread.
  let load = Atomic<Int>(0)

  init(lookupPlaces: Int) { lookups = LookupGate(places: lookupPlaces) }

  /// The look-up that the transfer led, if any, has ended.
  func lookupEnded(_ transfer: Transfer, resolved: Bool) {
    guard let name = transfer.lookup.take() else { return }
    lookupEnded(name: name, resolved: resolved, freshness: transfer.lookupFreshness)
  }

  func lookupEnded(name: String, resolved: Bool, freshness: UInt64 = LookupGate<Transfer>.freshness) {
    for (waiter, leads) in lookups.ended(name, resolved: resolved, now: now, freshness: freshness) {
      released.append((waiter, leads))
    }
  }
}
