import Synchronization

/// What the handle of a download can do to its run: pause, speed, and a look at its segments.
final class DownloadControl: Sendable {
  private struct State: Sendable {
    /// Exchanges under way, by worker.
    var responses: [Int: Response] = [:]
    /// Workers whose exchange a pause has cut, until they have seen it: the pause may be over by then.
    var cut: Set<Int> = []
    var segments: [SegmentProgress] = []
    /// Whether what was cut for a pause can be taken up again.
    var canReconnect = false
    var isDiscarded = false
  }

  let gate = PauseGate()
  let limiter: RateLimiter
  private let state = Mutex(State())

  init(rate: ByteRate?) { limiter = RateLimiter(rate) }

  func pause(keepingConnection: Bool) {
    gate.pause()
    guard !keepingConnection else { return }
    let responses = state.withLock { state in
      guard state.canReconnect else { return [Response]() }
      defer { state.responses = [:] }
      state.cut.formUnion(state.responses.keys)
      return Array(state.responses.values)
    }
    for response in responses { response.cancel() }
  }

  func discard() { state.withLock { $0.isDiscarded = true } }

  // MARK: the run's side

  var isDiscarded: Bool { state.withLock { $0.isDiscarded } }

  func opened(_ worker: Int, _ response: Response) {
    state.withLock { state in
      state.responses[worker] = response
      state.cut.remove(worker)
    }
  }
  /// Whether it was a pause that ended the worker's exchange; asked once.
  func wasCut(_ worker: Int) -> Bool { state.withLock { $0.cut.remove(worker) != nil } }
  func closed(_ worker: Int) { state.withLock { $0.responses[worker] = nil } }
  func set(canReconnect: Bool) { state.withLock { $0.canReconnect = canReconnect } }
  func set(segments: [SegmentProgress]) { state.withLock { $0.segments = segments } }

  var segments: [SegmentProgress] { state.withLock { $0.segments } }
}

/// How far one range of a download is.
public struct SegmentProgress: Sendable, Hashable {
  /// The range's first byte.
  public let start: Int64
  /// One past its last byte; nil while the total is unknown.
  public let end: Int64?
  /// Its next byte.
  public let position: Int64
  /// Bytes a second, as last measured.
  public let rate: Double
}
