/// What the observers of one download share: the events that nobody may miss, the latest progress, the result,
/// and who waits for it.
struct DownloadStateMachine: Sendable {
  /// Started and the end, in order.
  private var notices: [DownloadEvent] = []
  private(set) var progress = TransferProgress()
  private var progressVersion = 0
  private(set) var result: Result<DownloadedFile, HTTPError>?
  /// How many wait for the result.
  private(set) var owners = 0

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
    guard result == nil, notices.isEmpty else { return }
    notices.append(.started(start))
    progress.total = start.total
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

  /// The next event after a position: `started`, the latest progress, the end.
  func look(_ position: inout Position) -> Look {
    let isStarted = if case .started? = notices.first { true } else { false }
    // The first notice comes first, and the last value of the progress still comes before the end.
    if isStarted, position.notices == 1, position.progressVersion < progressVersion {
      position.progressVersion = progressVersion
      return .event(.progress(progress))
    }
    if position.notices < notices.count {
      position.notices += 1
      return .event(notices[position.notices - 1])
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
