import StreamCore
import Synchronization

/// Requests and what their answers mean.
extension DownloadRun {
  /// A range's answer with its body still to come.
  struct Opening: Sendable {
    let response: Response
    let segment: SegmentPlan.Segment
    /// Bytes before the range that the answer has too.
    var skip: Int64 = 0
    let source: Int
    /// Whether the answer ends where the range did when it was asked for.
    var endsWithRange = true
  }

  /// The request for bytes from `first` on, or for the whole. Codings are left on: what is stored is what the
  /// server stores.
  func request(source: Int, range: String? = nil, ifRange: String? = nil) throws(HTTPError) -> Request {
    var request = request
    request.url = shared.withLock { $0.sources[source].url }
    // Tries are made here, where it is known what has come.
    request.retry = RetryPolicy.none
    request.decodesContent = options.decodesContent
    if !options.decodesContent, !request.headers.contains("Accept-Encoding") {
      request.headers.append("Accept-Encoding", "identity")
    }
    if let range { request.headers.append("Range", range) }
    if let ifRange, !request.headers.contains("If-Range") { request.headers.append("If-Range", ifRange) }
    if options.priority != 0 { request.priority = options.priority }
    if request.watermark == nil { request.watermark = watermark }
    var limits = request.timeouts ?? client.configuration.timeouts
    if let total = limits.total {
      // One limit over all tries.
      guard total > elapsed else {
        throw HTTPError(
          .totalTimeout, phase: .body, message: "the download took longer than \(total)",
          advice: "Raise the limit, or continue it with a later run", method: request.method,
          url: request.url,
          received: shared.withLock { $0.plan.count })
      }
      limits.total = total - elapsed
      request.timeouts = limits
    }
    return request
  }

  private var watermark: Watermark? {
    if let rate = control.limiter.rate ?? client.downloadHub.limiter.rate, rate.bytesPerSecond < 4 << 20 {
      return Watermark(low: 32 << 10, high: 128 << 10)
    }
    return wantsSegments ? Watermark(low: 128 << 10, high: 512 << 10) : nil
  }

  /// What comes of a failed try.
  enum Healing: Sendable {
    case again
    case giveUp(HTTPError)
  }

  /// Decides on another try, tells of it, and waits. `source` may be replaced or excluded meanwhile.
  func heal(
    _ error: HTTPError, source: Int, policy: inout HealingPolicy, retryAfter: Duration? = nil
  ) async -> Healing {
    if Task.isCancelled || error.kind == .cancelled || error.kind == .shutdown || error.kind.isOfFile {
      return .giveUp(error)
    }
    if await refresh(error, source) { return .again }
    let (reached, others) = shared.withLock { shared in
      shared.sources.failed(source)
      shared.lastFailure = error
      let others = shared.sources.sources.indices.contains { index in
        index != source && !shared.sources[index].isExcluded
      }
      return (shared.plan.count, others)
    }
    let decision = policy.failed(
      error, reached: reached, retryAfter: retryAfter, random: Double.random(in: 0..<1))
    switch decision {
    case .retry(let delay):
      await tell(error, delay: others ? .zero : delay)
      return Task.isCancelled ? .giveUp(.cancelled(phase: .body, url: request.url)) : .again
    case .giveUp:
      guard others, isPlain else { return .giveUp(error) }
      shared.withLock { $0.sources.exclude(source) }
      await tell(error, delay: .zero)
      return .again
    }
  }

  private func tell(_ error: HTTPError, delay: Duration) async {
    let attempt = shared.withLock { shared in
      shared.tries += 1
      return shared.tries
    }
    state.note(
      .retry(DownloadRetry(attempt: attempt, delay: delay, reason: error, url: error.url ?? "")))
    if delay > .zero { await client.ending.sleep(delay) }
  }

  /// Another URL, where the one at hand has expired.
  private func refresh(_ error: HTTPError, _ source: Int) async -> Bool {
    guard error.kind == .httpStatus, let status = error.status, status == 403 || status == 410,
      let provider = options.urlProvider,
      shared.withLock({ $0.refreshes < 3 })
    else { return false }
    guard let url = await provider(error) else { return false }
    shared.withLock { shared in
      shared.refreshes += 1
      shared.sources.replace(source, url: url)
    }
    await tell(error, delay: .zero)
    return true
  }

  static func retryAfter(_ response: Response) -> Duration? {
    guard let wait = response.headers["Retry-After"].flatMap({ RetryAfter($0) }) else { return nil }
    switch wait {
    case .seconds(let seconds): return .seconds(seconds)
    case .date:
      guard let date = response.headers["Date"].flatMap({ HTTPDate($0) }) else { return nil }
      return .seconds(wait.seconds(from: date))
    }
  }
}

extension HTTPError.Kind {
  /// Whether a file is to blame: then another try of the network is none.
  var isOfFile: Bool {
    isDisk || self == .writeFailed || self == .fileExists || self == .readFailed || self == .checksumMismatch
      || self == .bodyTooLarge
  }
}
