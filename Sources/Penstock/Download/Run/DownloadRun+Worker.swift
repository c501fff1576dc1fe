import StreamCore
import Synchronization

/// One worker: claims a range, asks for it, streams it to the part, and heals.
extension DownloadRun {
  enum Connected: Sendable {
    case opened(Opening)
    /// What is there is the whole; the answer that says so.
    case complete(Response)
    case nothingToDo
    case restart(RestartReason, Response?)
    case failed(HTTPError, retryAfter: Duration?)
  }

  /// How a worker ends.
  enum WorkerEnd: Sendable {
    /// There is no more work for it.
    case done
    case complete
    case restart(RestartReason, Response?)
    case failed(HTTPError)
  }

  /// Works until there is nothing left to do.
  func work(_ worker: Int, first: Opening?) async -> WorkerEnd {
    var opening = first
    var policy =
      shared.withLock { $0.policies[worker] }
      ?? HealingPolicy(isPlain ? options.retry : .none)
    defer { shared.withLock { [policy] in $0.policies[worker] = policy } }
    while true {
      let source: Int
      let failure: HTTPError
      var retryAfter: Duration?
      if let open = opening {
        opening = nil
        source = open.source
        control.opened(worker, open.response)
        let end = await transfer(open, worker)
        control.closed(worker)
        open.response.cancel()
        shared.withLock { shared in
          shared.plan.release(open.segment.id)
          shared.sources.done(source)
        }
        switch end {
        case .whole: continue
        case .interrupted(let error): failure = error
        }
      } else {
        await control.gate.pass()
        do throws(HTTPError) { source = try pick() } catch { return .failed(error) }
        switch await connect(source: source) {
        case .opened(let opened):
          opening = opened
          continue
        case .complete(let response):
          response.cancel()
          shared.withLock { $0.sources.done(source) }
          return .complete
        case .nothingToDo:
          shared.withLock { $0.sources.done(source) }
          return .done
        case .restart(let reason, let response):
          shared.withLock { $0.sources.done(source) }
          return .restart(reason, response)
        case .failed(let error, let wait): (failure, retryAfter) = (error, wait)
        }
        shared.withLock { $0.sources.done(source) }
      }
      if failure.kind == .cancelled, !Task.isCancelled, control.wasCut(worker) || control.gate.isPaused {
        // The pause has cut the connection; that is no failure.
        await control.gate.pass()
        continue
      }
      switch await heal(failure, source: source, policy: &policy, retryAfter: retryAfter) {
      case .again: continue
      case .giveUp(let error): return .failed(error)
      }
    }
  }

  // MARK: asking

  /// Claims a range and asks a source for it. With `checksEnd`, when all bytes are there already, it asks for
  /// those behind the end, so that the server says whether they are still the whole.
  func connect(source: Int, checksEnd: Bool = false) async -> Connected {
    let mayContinue = canContinue
    let (segment, total, count, known) = shared.withLock { shared in
      let sharing = max(1, shared.tuner.wanted)
      let open = (shared.plan.total ?? .max) - shared.plan.count
      let limit =
        sharing == 1 || shared.plan.total == nil ? Int64.max : max(shared.plan.minimum, open / Int64(sharing))
      // What can't be continued is asked for from the first byte, by one.
      return (
        shared.plan.claim(limit: limit), shared.plan.total, shared.plan.count,
        shared.sources[source].validator ?? (source == shared.reference ? shared.validator : nil)
      )
    }
    let first: Int64
    if let segment {
      first = segment.position
    } else if checksEnd, let total, count == total, total > 0 {
      first = total
    } else {
      return .nothingToDo
    }
    let asksForRange = (count > 0 || first > 0) && mayContinue
    var range: String?
    if asksForRange {
      let isTail = segment.map { $0.end == .max || $0.end == total } ?? true
      range = "bytes=\(first)-" + (isTail ? "" : "\((segment?.end ?? first + 1) - 1)")
    }
    do throws(HTTPError) {
      let response = try await client.send(
        try request(source: source, range: range, ifRange: asksForRange ? known?.ifRange : nil))
      let judge = RangeAnswerJudge(
        first: asksForRange ? first : nil, total: total, validator: known, hasBytes: asksForRange || count > 0
      )
      let verdict = judge.judge(status: response.status, headers: response.headers)
      return await settle(
        verdict, response, segment, source: source, asked: asksForRange, count: count)
    } catch {
      release(segment)
      return .failed(error, retryAfter: nil)
    }
  }

  private func release(_ segment: SegmentPlan.Segment?) {
    if let segment { shared.withLock { $0.plan.release(segment.id) } }
  }

  private func settle(
    _ verdict: RangeAnswerJudge.Verdict, _ response: Response, _ segment: SegmentPlan.Segment?, source: Int,
    asked: Bool, count: Int64
  ) async -> Connected {
    switch verdict {
    case .append(let skip, let last, let total):
      guard let segment, agrees(response, source, total) else {
        release(segment)
        response.cancel()
        return segment == nil ? .restart(.otherRange, nil) : disagreement(source)
      }
      let ends = shared.withLock { shared in
        if let total { shared.plan.learn(total: total) }
        let end = shared.plan.active[segment.id]?.end ?? last + 1
        shared.plan.shorten(segment.id, to: last + 1)
        return last + 1 <= end
      }
      if let total {
        do throws(HTTPError) { try check(size: total) } catch { return .failed(error, retryAfter: nil) }
      }
      return .opened(
        Opening(response: response, segment: segment, skip: skip, source: source, endsWithRange: ends))
    case .complete:
      release(segment)
      // The size is known now, where it wasn't.
      shared.withLock { $0.plan.learn(total: count) }
      return .complete(response)
    case .whole where !asked && count == 0 && segment?.position == 0:
      return freshAgain(response, segment, source: source)
    case .whole(let reason):
      release(segment)
      if source != shared.withLock({ $0.reference }) {
        response.cancel()
        return disagreement(source)
      }
      let others = shared.withLock { !$0.plan.active.isEmpty }
      if reason == .rangeIgnored, others {
        // Others are getting their ranges: this one is refused, not the download.
        response.cancel()
        shared.withLock { $0.tuner.settleForOne() }
        return .nothingToDo
      }
      return .restart(reason ?? .noValidator, response)
    case .startOver(let reason):
      release(segment)
      response.cancel()
      if source != shared.withLock({ $0.reference }) { return disagreement(source) }
      return .restart(reason, nil)
    case .refused:
      release(segment)
      let wait = Self.retryAfter(response)
      return .failed(await refused(response), retryAfter: wait)
    }
  }

  /// The whole once more, when nothing of it had come.
  private func freshAgain(
    _ response: Response, _ segment: SegmentPlan.Segment?, source: Int
  ) -> Connected {
    let validator = EntityValidator(response.headers)
    let (known, total) = shared.withLock { ($0.validator, $0.plan.total) }
    guard let segment, known?.contradicts(validator) != true, total == response.announcedLength else {
      release(segment)
      return .restart(.changed, response)
    }
    return .opened(Opening(response: response, segment: segment, source: source))
  }

  /// A mirror must have the same file: the same size, and the same validator unless a digest judges.
  private func agrees(_ response: Response, _ source: Int, _ total: Int64?) -> Bool {
    let validator = EntityValidator(response.headers)
    return shared.withLock { shared in
      guard source != shared.reference else {
        shared.sources.answered(source, url: response.url, validator: validator)
        return true
      }
      let isSame =
        options.checksum != nil || shared.serverDigest != nil
        || shared.validator?.agrees(with: validator) == true
      guard isSame, shared.plan.total == nil || total == shared.plan.total else { return false }
      shared.sources.answered(source, url: response.url, validator: validator)
      return true
    }
  }

  private func disagreement(_ source: Int) -> Connected {
    let url = shared.withLock { shared in
      shared.sources.exclude(source)
      return shared.sources[source].url
    }
    let error = HTTPError(
      .rangeNotSatisfiable, phase: .head, message: "the mirror has another file, or no ranges of it", url: url
    )
    return .failed(error, retryAfter: nil)
  }

  // MARK: streaming

  enum TransferEnd: Sendable {
    /// The range is whole.
    case whole
    case interrupted(HTTPError)
  }

  private func transfer(_ opening: Opening, _ worker: Int) async -> TransferEnd {
    guard let (part, digests) = shared.withLock({ shared in shared.part.map { ($0, shared.digests) } }) else {
      return .interrupted(.cancelled)
    }
    let several = wantsSegments
    let writer = FileWriter(
      part, limit: several ? 1 << 20 : Int(clamping: options.writeBuffer.bytes),
      size: several ? 512 << 10 : FileWriter.writeSize, offset: opening.segment.position, digests: digests)
    shared.withLock { $0.writers[worker] = writer }
    defer { shared.withLock { $0.writers[worker] = nil } }
    let end = await read(opening, into: writer)
    if case .interrupted(let error) = end, Task.isCancelled, !keepsAfter(error) {
      await writer.stop()
      return end
    }
    do throws(HTTPError) {
      try await writer.finish()
    } catch {
      return .interrupted(
        error.at(status: opening.response.status, received: shared.withLock { $0.plan.count }))
    }
    return end
  }

  private func read(_ opening: Opening, into writer: FileWriter) async -> TransferEnd {
    var iterator = opening.response.body.makeAsyncIterator()
    var skip = opening.skip
    var speed = SpeedWindow(now: elapsed)
    do throws(HTTPError) {
      while let chunk = try await iterator.next() {
        var rest = chunk
        if skip > 0 {
          let dropped = Int(min(skip, Int64(rest.count)))
          skip -= Int64(dropped)
          rest = rest.dropFirst(dropped)
        }
        while !rest.isEmpty {
          let piece = try await admit(&rest)
          switch arrive(opening, piece.count, &speed) {
          case .take: try await writer.write(piece)
          case .takeLast(let count):
            try await writer.write(piece.prefix(count))
            if opening.endsWithRange, count == piece.count, rest.isEmpty,
              opening.response.announcedLength != nil
            {
              // The end of the answer leaves its connection usable.
              _ = try await iterator.next()
            }
            return .whole
          case .drop: return .whole
          }
        }
        if let limit = options.maximumSize {
          try check(size: min(limit.bytes + 1, shared.withLock { $0.plan.count }))
        }
      }
      if shared.withLock({ $0.plan.end(opening.segment.id) }) { return .whole }
      throw HTTPError(
        .truncated, phase: .body, message: "the body ended before its range did", method: request.method,
        url: opening.response.url, mayHaveBeenProcessed: true)
    } catch {
      return .interrupted(
        error.at(status: opening.response.status, received: shared.withLock { $0.plan.count }))
    }
  }

  /// Waits for pause and speed limits; takes the next piece off what came.
  private func admit(_ rest: inout BodyChunk) async throws(HTTPError) -> BodyChunk {
    if control.gate.isPaused { await control.gate.pass() }
    let hub = client.downloadHub.limiter
    let most = min(control.limiter.piece, hub.piece)
    let piece = most < rest.count ? rest.prefix(most) : rest
    rest = rest.dropFirst(piece.count)
    if most < .max {
      await control.limiter.pass(piece.count)
      await hub.pass(piece.count)
      if Task.isCancelled { throw .cancelled(phase: .body) }
    }
    return piece
  }

  private func arrive(_ opening: Opening, _ count: Int, _ speed: inout SpeedWindow) -> SegmentPlan.Arrival {
    let now = elapsed
    let rate = speed.add(count, now: now)
    let (arrival, progress) = shared.withLock { shared in
      let arrival = shared.plan.arrive(opening.segment.id, count)
      if let rate {
        shared.plan.measured(opening.segment.id, rate: rate)
        shared.sources.received(opening.source, 0, rate: rate)
      }
      switch arrival {
      case .take(let taken), .takeLast(let taken): shared.sources.received(opening.source, taken, rate: nil)
      case .drop: break
      }
      shared.refreshes = 0
      let received = shared.plan.count
      let isDue = shared.meter.update(received: received, decoded: received, now: now)
      return (arrival, isDue ? shared.meter.progress : nil)
    }
    if let progress { state.report(progress) }
    return arrival
  }
}

/// The speed of one exchange, measured over pieces of time.
struct SpeedWindow: Sendable {
  private var start: Duration
  private var count = 0
  private static let length = Duration.milliseconds(250)

  init(now: Duration) { start = now }

  /// The speed, when a piece of time is over.
  mutating func add(_ bytes: Int, now: Duration) -> Double? {
    count += bytes
    let passed = now - start
    guard passed >= Self.length else { return nil }
    defer {
      start = now
      count = 0
    }
    return Double(count) / (passed / .seconds(1))
  }
}
