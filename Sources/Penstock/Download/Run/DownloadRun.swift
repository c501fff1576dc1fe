import Synchronization

/// The way of one download: check the place → take up what is there → ask → stream ranges to the part file →
/// digests → sync → rename.
///
/// | file | step |
/// |---|---|
/// | `DownloadRun+Opening` | the first answer, fresh or for what is missing |
/// | `DownloadRun+Requests` | requests and what their answers mean |
/// | `DownloadRun+Drive` | how many workers there are, what their ends mean, checkpoints |
/// | `DownloadRun+Worker` | one worker: claim a range, ask for it, stream it, heal |
/// | `DownloadRun+Finish` | digests, time, name; or giving up |
final class DownloadRun: Sendable {
  /// What the workers share.
  struct Shared: Sendable {
    var plan = SegmentPlan(total: nil)
    var sources: SourceBoard
    var tuner: SegmentTuner
    var meter = ProgressMeter(total: nil, now: .zero)
    /// The state of the resource that the bytes belong to, as the source `reference` told it.
    var validator: EntityValidator?
    var reference = 0
    var isEndVerifiable = true
    /// What the server said the digest is.
    var serverDigest: Digest?
    var finalURL = ""
    var head: ResponseHead?
    var resumedAt: Int64 = 0
    var tries = 1
    var refreshes = 0
    /// How each worker's tries have gone, also over restarts.
    var policies: [Int: HealingPolicy] = [:]
    var hasRestarted = false
    /// Why the bytes from before are given up, to be told when others take their place.
    var pendingReason: RestartReason?
    var lastFailure: HTTPError?
    var part: PartFile?
    /// Whether the part's bytes are this run's to change.
    var ownsPart = false
    var digests: FileDigests?
    var writers: [Int: FileWriter] = [:]
    var isAllocated = false
    /// What the last record on the disk says.
    var recorded: ByteRanges?
    /// How far the digests were in it.
    var recordedDigests: Int64 = 0
  }

  let client: Client
  let request: Request
  let target: DownloadTarget
  let options: DownloadOptions
  let state: DownloadState
  let control: DownloadControl
  let calls: FileCalls
  let place: DownloadPlace
  let queue = FileQueue()
  /// Syncing in the middle waits long: not in the way of the writes.
  let recordQueue = FileQueue()
  let begin = ContinuousClock.now
  let shared: Mutex<Shared>

  /// So often the whole is begun anew before it is given up.
  static let mostRestarts = 3

  init(
    client: Client, request: Request, target: DownloadTarget, options: DownloadOptions, state: DownloadState,
    control: DownloadControl, calls: FileCalls
  ) {
    self.client = client
    self.request = request
    self.target = target
    self.options = options
    self.state = state
    self.control = control
    self.calls = calls
    place = DownloadPlace(target, overwrite: options.overwrite)
    shared = Mutex(
      Shared(
        sources: SourceBoard([request.url] + options.mirrors),
        tuner: SegmentTuner(options.segments, total: nil, minimum: options.minimumSegment.bytes)))
  }

  func run() async {
    do throws(HTTPError) {
      let file = try await load()
      state.finish(.success(file))
    } catch {
      state.finish(.failure(error.naming(method: request.method, url: request.url)))
    }
  }

  private func load() async throws(HTTPError) -> DownloadedFile {
    try options.check()
    let place = place
    try await queue.run { () throws(HTTPError) in try place.checkBeforeRequest() }
    do throws(HTTPError) {
      var next = try await first()
      var restarts = 0
      while true {
        switch next {
        case .unchanged(let head, let url): return try await unchanged(head, url)
        case .complete: return try await finish()
        case .open(let opening):
          switch await drive(opening) {
          case .complete: return try await finish()
          case .failed(let error): throw error
          case .restart(let reason, let response):
            restarts += 1
            guard restarts <= Self.mostRestarts else {
              response?.cancel()
              throw shared.withLock { $0.lastFailure } ?? neverTheSame(reason)
            }
            next = try await restart(reason, with: response)
          }
        }
      }
    } catch {
      await giveUp(error)
      throw counted(error)
    }
  }

  /// With how far the whole had come: a lost connection or a cancellation knows of itself at most.
  private func counted(_ error: HTTPError) -> HTTPError {
    let (received, status) = shared.withLock { ($0.plan.count, $0.head?.status) }
    return received > error.received ? error.at(status: error.status ?? status, received: received) : error
  }

  private func neverTheSame(_ reason: RestartReason) -> HTTPError {
    HTTPError(
      .rangeNotSatisfiable, phase: .body,
      message:
        "the download began anew \(Self.mostRestarts) times and can't be continued (\(reason.rawValue))",
      advice:
        "The file may be changing on the server, or its ranges can't be relied on; try without segments",
      method: request.method, url: request.url, mayHaveBeenProcessed: true)
  }

  // MARK: what can be done

  /// Whether the request can be asked in parts and again: a plain GET of the whole.
  var isPlain: Bool {
    request.method == .get && request.body.isEmpty && !request.headers.contains("Range")
      && !options.decodesContent
  }

  /// Whether the request can be made once more, before any of its answer was taken.
  var mayAskAgain: Bool { request.body.isReplayable && options.retry.methods.contains(request.method) }

  /// Whether what has come can be continued.
  var canContinue: Bool {
    guard isPlain else { return false }
    return shared.withLock { shared in
      guard let validator = shared.validator else { return false }
      // A body whose end can't be told from a cut is nothing to build upon, unless a digest judges in the end.
      guard shared.isEndVerifiable || shared.plan.total != nil || options.checksum != nil else {
        return false
      }
      return validator.isStrong || options.resume == .always
    }
  }

  /// Whether a record is kept beside the part.
  var keepsRecord: Bool {
    options.resume != .never && isPlain && (canContinue || options.keepsPartWhenCancelled)
  }

  var wantsSegments: Bool { isPlain && options.segments != .count(1) }

  var elapsed: Duration { ContinuousClock.now - begin }
}
