/// What the observers of one download share: the events that nobody may miss, the latest progress, the result,
/// and who waits for it.
struct DownloadStateMachine: Sendable {
  /// Started, restarts, tries and the end, in order.
  private var notices: [DownloadEvent] = []
  /// Where `started` is among them.
  private var startedAt: Int?
  /// How many of the oldest were let go: a download that is tried for ever must not grow.
  private var dropped = 0
  private(set) var progress = TransferProgress()
  private var progressVersion = 0
  private(set) var result: Result<DownloadedFile, HTTPError>?
  /// How many wait for the result.
  private(set) var owners = 0
  /// Restarts from before the start are told after it.
  private var early: [DownloadEvent] = []

  /// So many tries and restarts are kept for observers that come late.
  static let kept = 256

  /// One observer's place.
  struct Position: Sendable {
    fileprivate var notices = 0
    fileprivate var progressVersion = 0
    fileprivate var hasSeenStart = false
  }

  enum Look: Sendable {
    case event(DownloadEvent)
    case wait
    case ended
  }

  /// What follows when one who waited for the result leaves.
  enum Leaving: Sendable {
    case goOn
    /// Nobody wants it any more.
    case cancelDownload
  }

  // MARK: the work's side; after the end nothing changes

  mutating func start(_ start: DownloadStart) {
    guard result == nil, startedAt == nil else { return }
    startedAt = notices.count
    notices.append(.started(start))
    notices += early
    early = []
    progress.total = start.total
    progress.received = start.resumedAt
  }

  /// A restart or another try.
  mutating func note(_ event: DownloadEvent) {
    guard result == nil else { return }
    if case .restarted = event, startedAt == nil {
      if early.count < Self.kept { early.append(event) }
      return
    }
    notices.append(event)
    guard notices.count > Self.kept else { return }
    // `started` stays.
    notices.remove(at: startedAt == 0 ? 1 : 0)
    if let place = startedAt, place > 0 { startedAt = place - 1 }
    dropped += 1
  }

  mutating func report(_ progress: TransferProgress) {
    guard result == nil else { return }
    self.progress = progress
    progressVersion += 1
  }

  mutating func finish(_ result: Result<DownloadedFile, HTTPError>) {
    guard self.result == nil else { return }
    self.result = result
    switch result {
    case .success(let file): notices.append(.finished(file))
    case .failure(let error): notices.append(.failed(error))
    }
  }

  // MARK: the observers' side

  /// The next event after a position: what happened in its order, the latest progress, the end.
  func look(_ position: inout Position) -> Look {
    var index = max(0, position.notices - dropped)
    if position.hasSeenStart, index == startedAt { index += 1 }
    let hasProgress = position.hasSeenStart && position.progressVersion < progressVersion
    // The last value of the progress still comes before the end.
    let isEnd = result != nil && index == notices.count - 1
    if index < notices.count, !(isEnd && hasProgress) {
      if index == startedAt { position.hasSeenStart = true }
      position.notices = index + 1 + dropped
      return .event(notices[index])
    }
    if hasProgress {
      position.progressVersion = progressVersion
      return .event(.progress(progress))
    }
    return result == nil ? .wait : .ended
  }

  // MARK: those who wait for the result

  mutating func enter() { owners += 1 }

  mutating func leave(isCancelled: Bool) -> Leaving {
    owners -= 1
    return isCancelled && owners == 0 && result == nil ? .cancelDownload : .goOn
  }
}
