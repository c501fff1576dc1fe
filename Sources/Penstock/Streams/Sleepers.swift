import Synchronization

/// Tasks that sleep until somebody wakes them, each under a key: a part of what a lock guards.
struct Sleepers<Key: Hashable & Sendable>: Sendable {
  fileprivate var asleep: [Key: UnsafeContinuation<Void, Never>] = [:]

  /// The sleeper under a key, to be resumed outside the lock; nil when nobody sleeps there.
  mutating func wake(_ key: Key) -> UnsafeContinuation<Void, Never>? { asleep.removeValue(forKey: key) }

  /// All of them.
  mutating func wakeAll() -> [UnsafeContinuation<Void, Never>] {
    defer { asleep = [:] }
    return Array(asleep.values)
  }
}

extension Mutex {
  /// Sleeps under a key until somebody wakes it or the task is cancelled; returns at once where `isNeeded` says so, or
  /// the task was cancelled before.
  ///
  /// - Parameter stop: what a cancelled sleeper does, where more is to be done than to wake it.
  func sleep<Key>(
    _ key: Key, in sleepers: any WritableKeyPath<Value, Sleepers<Key>> & Sendable,
    while isNeeded: (inout Value) -> Bool, onCancel stop: (@Sendable () -> Void)? = nil
  ) async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let sleeps = withLock { state in
          // The handler may have run before there was anybody to wake.
          guard !Task.isCancelled, isNeeded(&state) else { return false }
          state[keyPath: sleepers].asleep[key] = continuation
          return true
        }
        if !sleeps { continuation.resume() }
      }
    } onCancel: {
      if let stop { stop() } else { withLock { $0[keyPath: sleepers].wake(key) }?.resume() }
    }
  }
}
