/// What the observers of one download share: the events that nobody may miss, the latest progress, the result,
/// and who waits for it.
struct DownloadStateMachine: Sendable {
  /// Started, restarts, tries and the end, in order.
  private var notices: [DownloadEvent] = []
  /// How many of the oldest were let go: a download that is tried for ever must not grow.
  private var dropped = 0
  private(set) var progress = TransferProgress()
  private var progressVersion = 0
  private(set) var result: Result<DownloadedFile, HTTPError>?
  /// How many wait for the result.
  private(set) var owners = 0
  private var isStarted = false
  /// Restarts and tries from before the start are told after it.
  private var early: [DownloadEvent] = []

  /// So many tries and restarts are kept for observers that come late.
  static let kept = 256

  /// One observer's place.
  struct Position: Sendable {
    fileprivate var notices = 0
    fileprivate var progressVersion = 0
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
    guard result == nil, !isStarted else { return }
    isStarted = true
    notices = [.started(start)] + early
    early = []
    progress.total = start.total
    progress.received = start.resumedAt
  }

  /// A restart or another try.
  mutating func note(_ event: DownloadEvent) {
    guard result == nil else { return }
    guard isStarted else {
      if early.count < Self.kept { early.append(event) }
      return
    }
    notices.append(event)
    // `started` is the first for everybody.
    if notices.count > Self.kept {
      notices.remove(at: 1)
      dropped += 1
    }
  }

  mutating func report(_ progress: TransferProgress) {
    guard result == nil else { return }
    self.progress = progress
    progressVersion += 1
  }

  mutating func finish(_ result: Result<DownloadedFile, HTTPError>) {
    guard self.result == nil else { return }
    self.result = result
    if !isStarted { notices = early }
    switch result {
    case .success(let file): notices.append(.finished(file))
    case .failure(let error): notices.append(.failed(error))
    }
  }

  // MARK: the observers' side

  /// The next event after a position: `started`, what happened, the latest progress, the end.
  func look(_ position: inout Position) -> Look {
    let count = notices.count + dropped
    if position.notices < count {
      // The last value of the progress still comes before the end.
      let isEnd = result != nil && position.notices == count - 1
      if !(isEnd && isStarted && position.notices > 0 && position.progressVersion < progressVersion) {
        if position.notices > 0 { position.notices = max(position.notices, dropped + 1) }
        let index = position.notices == 0 ? 0 : position.notices - dropped
        position.notices += 1
        return .event(notices[index])
      }
    }
    if isStarted, position.notices > 0, position.progressVersion < progressVersion {
      position.progressVersion = progressVersion
      return .event(.progress(progress))
    }
    return result == nil || position.notices < count ? .wait : .ended
  }

  // MARK: those who wait for the result

  mutating func enter() { owners += 1 }

  mutating func leave(isCancelled: Bool) -> Leaving {
    owners -= 1
    return isCancelled && owners == 0 && result == nil ? .cancelDownload : .goOn
  }
}
