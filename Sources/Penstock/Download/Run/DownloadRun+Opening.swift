import StreamCore
import Synchronization

/// The first answer: fresh, or for what an earlier try has left.
extension DownloadRun {
  enum First: Sendable {
    case open(Opening)
    /// All bytes are there already.
    case complete
    /// The file that is there is the server's.
    case unchanged(ResponseHead, url: String)
  }

  func first() async throws(HTTPError) -> First {
    let place = place
    let request = request
    let (overwrite, queue, calls) = (options.overwrite, queue, calls)
    if isPlain, options.resume != .never {
      let found = try await queue.run { () throws(HTTPError) -> (PartFile, PartRecord?)? in
        guard let path = place.knownPath(url: request.url),
          let part = try PartFile.openLeftover(path, overwrite: overwrite, queue: queue, calls: calls)
        else { return nil }
        return (part, part.readRecord())
      }
      if let (part, record) = found {
        shared.withLock { $0.part = part }
        if let record, let why = refusal(record) {
          // An empty part is nothing to speak of.
          if !record.segments.isEmpty { shared.withLock { $0.pendingReason = why } }
        } else if let record, !record.segments.isEmpty {
          return try await resume(part, record)
        } else if record == nil, part.size > 0 {
          shared.withLock { $0.pendingReason = .unusablePart }
        }
      }
    }
    return try await fresh(nil)
  }

  /// Why a record isn't built upon.
  private func refusal(_ record: PartRecord) -> RestartReason? {
    if !record.endVerifiable, record.total == nil, options.checksum == nil { return .noValidator }
    if record.validator.isStrong { return nil }
    if options.resume != .always { return .noValidator }
    // Without a validator it has at least to be the same address.
    let (one, other) = (record.url.prefix { $0 != "?" }, Redaction.url(request.url).prefix { $0 != "?" })
    return one == other ? nil : .noValidator
  }

  // MARK: going on

  /// Goes on with what is there.
  private func resume(_ part: PartFile, _ record: PartRecord) async throws(HTTPError) -> First {
    let done = record.done
    part.adopt(done)
    let digests = try digests(for: part, record.digests, done)
    shared.withLock { shared in
      shared.plan = SegmentPlan(total: record.total, received: done, minimum: options.minimumSegment.bytes)
      shared.validator = record.validator
      shared.isEndVerifiable = record.endVerifiable
      shared.digests = digests
      shared.resumedAt = done.count
      shared.recorded = done
      shared.finalURL = record.finalURL
      shared.ownsPart = true
      shared.tuner = SegmentTuner(
        options.segments, total: record.total, minimum: options.minimumSegment.bytes)
    }
    control.set(canReconnect: canContinue)
    var policy = HealingPolicy(options.retry)
    while true {
      let source = try pick()
      switch await connect(source: source, checksEnd: true) {
      case .opened(let opening):
        try await begin(opening, part: part)
        return .open(opening)
      case .complete(let response):
        response.cancel()
        try await begin(response, source: source, part: part)
        return .complete
      case .nothingToDo: return .complete
      case .restart(let reason, let response): return try await restart(reason, with: response)
      case .failed(let error, let retryAfter):
        shared.withLock { $0.sources.done(source) }
        switch await heal(error, source: source, policy: &policy, retryAfter: retryAfter) {
        case .again: continue
        case .giveUp(let error): throw error
        }
      }
    }
  }

  private func begin(_ opening: Opening, part: PartFile) async throws(HTTPError) {
    try await begin(opening.response, source: opening.source, part: part)
  }

  /// The run has its first answer: tells so.
  private func begin(_ response: Response, source: Int, part: PartFile) async throws(HTTPError) {
    let elapsed = elapsed
    let start = shared.withLock { shared in
      shared.head = response.head
      shared.finalURL = response.url
      if options.verifiesServerDigest, shared.serverDigest == nil, response.status.isSuccess {
        shared.serverDigest = DigestFields.expected(response.headers)
      }
      shared.meter = ProgressMeter(total: shared.plan.total, now: elapsed, received: shared.plan.count)
      return DownloadStart(
        url: response.url, file: part.finalPath, total: shared.plan.total, resumedAt: shared.resumedAt,
        segments: shared.tuner.wanted)
    }
    state.start(start)
  }

  func digests(
    for part: PartFile, _ kept: [PartRecord.DigestState] = [], _ done: ByteRanges = ByteRanges(),
    told: Digest? = nil
  ) throws(HTTPError) -> FileDigests? {
    var algorithms = options.algorithms
    if let told, !algorithms.contains(told.algorithm) { algorithms.append(told.algorithm) }
    return algorithms.isEmpty ? nil : try FileDigests(algorithms, file: part, kept: kept, done: done)
  }

  func pick() throws(HTTPError) -> Int {
    if let source = shared.withLock({ $0.sources.pick() }) { return source }
    throw HTTPError(
      .httpStatus, phase: .head, message: "none of the \(options.mirrors.count + 1) places has the file",
      method: request.method, url: request.url)
  }

  // MARK: beginning

  /// Begins again at the first byte, with an answer that is the whole where there is one.
  func restart(_ reason: RestartReason, with response: Response?) async throws(HTTPError) -> First {
    shared.withLock { shared in
      shared.pendingReason = reason
      shared.hasRestarted = true
      shared.resumedAt = 0
      shared.sources.forgetValidators()
    }
    return try await fresh(response)
  }

  /// Asks for the first byte and all that follow, or takes an answer that has them.
  func fresh(_ carried: Response?) async throws(HTTPError) -> First {
    if let carried {
      let source = shared.withLock { $0.reference }
      return try await adopt(carried, source: source, last: nil, total: nil)
    }
    var policy = HealingPolicy(mayAskAgain ? options.retry : .none)
    // What had to begin again isn't divided once more.
    var asksForRange = wantsSegments && !shared.withLock { $0.hasRestarted }
    while true {
      let source = try pick()
      defer { shared.withLock { $0.sources.done(source) } }
      let piece = asksForRange ? "bytes=0-\(options.minimumSegment.bytes - 1)" : nil
      var failure: HTTPError
      var retryAfter: Duration?
      do throws(HTTPError) {
        var ask = try request(source: source, range: piece)
        await addCondition(to: &ask)
        let response = try await client.send(ask)
        let judge = RangeAnswerJudge(first: asksForRange ? 0 : nil, hasBytes: false)
        switch judge.judge(status: response.status, headers: response.headers) {
        case .append(0, let last, let total?)
        where EntityValidator(response.headers).isStrong || options.resume == .always:
          return try await adopt(response, source: source, last: last, total: total)
        case .whole: return try await adopt(response, source: source, last: nil, total: nil)
        case .append, .complete, .startOver:
          // Not a server to ask for ranges.
          response.cancel()
          asksForRange = false
          shared.withLock { $0.tuner.settleForOne() }
          continue
        case .refused:
          if response.status == 304, options.condition != .always {
            return .unchanged(response.head, url: response.url)
          }
          if response.status == 206, request.headers.contains("Range") {
            return try await adopt(response, source: source, last: nil, total: nil)
          }
          retryAfter = Self.retryAfter(response)
          failure = await refused(response)
        }
      } catch {
        failure = error
      }
      switch await heal(failure, source: source, policy: &policy, retryAfter: retryAfter) {
      case .again: continue
      case .giveUp(let error): throw error
      }
    }
  }

  private func addCondition(to ask: inout Request) async {
    switch options.condition {
    case .always: return
    case .ifNoneMatch(let tag): ask.headers.append("If-None-Match", tag)
    case .ifModified:
      guard case .file(let path) = target else { return }
      let time = try? await queue.run { () throws(HTTPError) in DownloadPlace.modificationTime(path) }
      if let time = time ?? nil {
        ask.headers.append("If-Modified-Since", HTTPDate(secondsSinceEpoch: time).description)
      }
    }
  }

  /// Takes an answer that begins at the first byte: opens or empties the part, and makes the plan.
  private func adopt(
    _ response: Response, source: Int, last: Int64?, total: Int64?
  ) async throws(HTTPError) -> First {
    do throws(HTTPError) {
      let coded = response.headers.contains("Content-Encoding") && options.decodesContent
      let size = total ?? (coded ? nil : response.announcedLength)
      if let size { try check(size: size) }
      let told =
        options.verifiesServerDigest && !coded && isPlain ? DigestFields.expected(response.headers) : nil
      let part = try await emptyPart(for: response, size: size)
      let digests = try digests(for: part, told: told)
      let isAllocated = try await queue.run { () throws(HTTPError) in
        try part.checkSpace(for: size)
        guard let size, size >= Self.allocationSize else { return false }
        try part.allocate(size)
        return true
      }
      let segment = shared.withLock { shared in
        shared.plan = SegmentPlan(total: size, minimum: options.minimumSegment.bytes)
        shared.tuner = SegmentTuner(
          last == nil ? .count(1) : options.segments, total: size, minimum: options.minimumSegment.bytes)
        shared.validator = EntityValidator(response.headers)
        shared.reference = source
        shared.sources.answered(source, url: response.url, validator: EntityValidator(response.headers))
        shared.isEndVerifiable = response.body.isEndVerifiable
        shared.serverDigest = told
        shared.digests = digests
        shared.isAllocated = isAllocated
        shared.recorded = nil
        return shared.plan.claim(limit: last.map { $0 + 1 } ?? .max)
      }
      control.set(canReconnect: canContinue)
      // It is no checkpoint yet: a record of no bytes need not survive a power cut.
      try await record(isDurable: false)
      // Now that there are other bytes, those from before are given up.
      if let reason = shared.withLock({ $0.pendingReason.take() }) { state.note(.restarted(reason)) }
      try await begin(response, source: source, part: part)
      guard let segment else {
        // Nothing at all is the whole.
        _ = try await response.body.drain()
        return .complete
      }
      shared.withLock { $0.sources.begin(source) }
      return .open(Opening(response: response, segment: segment, source: source))
    } catch {
      response.cancel()
      throw error
    }
  }

  static let allocationSize: Int64 = 8 << 20

  private func emptyPart(for response: Response, size: Int64?) async throws(HTTPError) -> PartFile {
    let known = shared.withLock { $0.part }
    let (place, overwrite, queue, calls) = (place, options.overwrite, queue, calls)
    let part = try await queue.run { () throws(HTTPError) in
      if let known {
        try known.reset()
        return known
      }
      return try PartFile.open(
        try place.path(for: response), overwrite: overwrite, queue: queue, calls: calls)
    }
    shared.withLock { shared in
      shared.part = part
      shared.ownsPart = true
    }
    return part
  }

  func check(size: Int64) throws(HTTPError) {
    guard let limit = options.maximumSize, size > limit.bytes else { return }
    throw HTTPError(
      .bodyTooLarge, phase: .body, message: "the file of \(size) bytes is larger than the limit of \(limit)",
      advice: "Raise the limit", method: request.method, url: request.url)
  }
}
