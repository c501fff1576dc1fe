internal import StreamCore
internal import Synchronization

/// The signals of a scripted server by their names, made when first named by either side.
final class NamedSignals: Sendable {
  private struct State {
    var signals: [String: WakeSignal] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  func named(_ name: String) throws(TestServerError) -> WakeSignal {
    let result: Result<WakeSignal, TestServerError> = state.withLock { state in
      if state.isClosed { return .failure(.stopped) }
      if let signal = state.signals[name] { return .success(signal) }
      do throws(TestServerError) {
        let signal = try WakeSignal()
        state.signals[name] = signal
        return .success(signal)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Gives all descriptors back. Nobody may wait any more.
  func close() {
    let signals = state.withLock { state in
      state.isClosed = true
      defer { state.signals = [:] }
      return state.signals.values.map(\.self)
    }
    for signal in signals { signal.close() }
  }
}
