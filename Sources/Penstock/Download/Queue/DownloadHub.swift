import Synchronization

/// What all downloads of one client share: the limit of their speed, and the queue.
final class DownloadHub: Sendable {
  struct State: Sendable {
    var turns = DownloadTurns(limit: DownloadQueue.usualLimit)
    var sleepers = Sleepers<Int>()
    var admitted: Set<Int> = []
    var lastKey = 0
    /// The queue's own hold on its downloads, until they are done.
    var held: [Int: Download] = [:]
    var statePath: String?
    var record = QueueRecord()
  }

  let limiter = RateLimiter(nil)
  let state = Mutex(State())
  /// Where the state file is written.
  let queue = FileQueue()

  func newKey() -> Int {
    state.withLock { state in
      state.lastKey += 1
      return state.lastKey
    }
  }

  /// Changes the turns and wakes those who have theirs now.
  func change(_ body: (inout DownloadTurns) -> [Int]) {
    let sleepers = state.withLock { state in
      let keys = body(&state.turns)
      state.admitted.formUnion(keys)
      return keys.compactMap { state.sleepers.wake($0) }
    }
    for sleeper in sleepers { sleeper.resume() }
  }

  /// Returns when it is this one's turn, or the task is cancelled.
  func wait(_ key: Int) async {
    await state.sleep(key, in: \.sleepers) { !$0.admitted.contains(key) }
  }

  func done(_ key: Int, _ result: Result<DownloadedFile, HTTPError>?) async {
    state.withLock { state in
      state.admitted.remove(key)
      // What a shutdown has interrupted is taken up by a later run; all else is done.
      if case .failure(let error)? = result, error.kind == .shutdown {
      } else {
        state.record.entries.removeAll { $0.key == key }
      }
    }
    // First: whoever sees it gone finds the file without it.
    await save()
    change { $0.leave(key) }
    let held = state.withLock { $0.held.removeValue(forKey: key) }
    withExtendedLifetime(held) {}
  }

  /// Writes the state file; that it can't be written stops no download.
  func save() async {
    _ = try? await queue.run { () throws(HTTPError) in
      let (path, record) = self.state.withLock { ($0.statePath, $0.record) }
      if let path { try record.write(to: path) }
    }
  }
}

/// One download's place in the queue.
struct DownloadTurn: Sendable {
  let hub: DownloadHub
  let key: Int

  func take() async { await hub.wait(key) }
  func give(_ result: Result<DownloadedFile, HTTPError>?) async { await hub.done(key, result) }
}
