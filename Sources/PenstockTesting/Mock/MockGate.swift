internal import StreamCore
import Synchronization

/// Where a mock's answer waits until a test lets it go on: delays by hand, not by time.
public final class MockGate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var arrivals = 0
    var waiting: [UInt64: UnsafeContinuation<Void, Never>] = [:]
    var watching: [(count: Int, UnsafeContinuation<Void, Never>)] = []
    var lastID: UInt64 = 0
  }

  private let state = Mutex(State())

  /// A closed gate.
  public init() {}

  /// Lets all go on that wait here, and all that come.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting.values.map { $0 }
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when so many exchanges have come here, whether they still wait or not.
  public func arrived(_ count: Int = 1) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isThere = state.withLock { state in
        if state.arrivals >= count { return true }
        state.watching.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Waits for the gate, or for the task's cancellation.
  func wait() async {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let (goesOn, watchers) = state.withLock { state in
          state.arrivals += 1
          let arrivals = state.arrivals
          let watchers = state.watching.filter { $0.count <= arrivals }.map(\.1)
          state.watching.removeAll { $0.count <= arrivals }
          let goesOn = state.isOpen || Task.isCancelled
          if !goesOn { state.waiting[id] = continuation }
          return (goesOn, watchers)
        }
        for watcher in watchers { watcher.resume() }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
    }
  }
}
