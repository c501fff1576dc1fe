import Synchronization

/// How many workers there are and what their ends mean; checkpoints and figures between.
extension DownloadRun {
  enum Outcome: Sendable {
    case complete
    case restart(RestartReason, Response?)
    case failed(HTTPError)
  }

  private enum Happening: Sendable {
    case ended(WorkerEnd)
    case tick
  }

  /// How often it is looked at what there is to do.
  private static let tick = Duration.milliseconds(250)
  /// A checkpoint at least so long after the last one, and four times as long as that took.
  private static let checkpointPause = Duration.seconds(1)

  /// Loads all that is missing, beginning with this answer.
  func drive(_ opening: Opening) async -> Outcome {
    await withTaskGroup(of: Happening.self) { group in
      var running = 0
      var worker = 0
      var outcome: Outcome?
      var lastFailure: HTTPError?
      var nextCheckpoint = elapsed + Self.tick

      func start(_ opening: Opening?) {
        let number = worker
        worker += 1
        running += 1
        group.addTask { .ended(await self.work(number, first: opening)) }
      }
      func startMore() {
        while outcome == nil, !control.gate.isPaused, wantsMore(running) { start(nil) }
      }
      start(opening)
      startMore()
      group.addTask { await self.waitForTick() }
      while running > 0, let happening = await group.next() {
        switch happening {
        case .tick:
          look(running)
          if elapsed >= nextCheckpoint, outcome == nil {
            let begin = elapsed
            if let failure = await checkpoint() {
              outcome = outcome ?? .failed(failure)
              group.cancelAll()
            }
            nextCheckpoint = elapsed + max(Self.checkpointPause, (elapsed - begin) * 4)
          }
          startMore()
          group.addTask { await self.waitForTick() }
        case .ended(let end):
          running -= 1
          switch end {
          case .done: break
          case .complete: outcome = outcome ?? .complete
          case .restart(let reason, let response):
            if outcome == nil { outcome = .restart(reason, response) } else { response?.cancel() }
          case .failed(let error):
            // One that was refused leaves its work to the others.
            if running > 0, !error.kind.isOfFile, error.kind != .cancelled {
              lastFailure = error
              shared.withLock { $0.tuner.refused(running: running) }
            } else {
              outcome = outcome ?? .failed(error)
            }
          }
          if outcome == nil, running == 0 {
            if shared.withLock({ $0.plan.isComplete }) {
              outcome = .complete
            } else if let lastFailure {
              outcome = .failed(lastFailure)
            } else if Task.isCancelled {
              outcome = .failed(.cancelled(phase: .body, url: request.url))
            } else {
              // A range that nobody has, such as one that was given back when the others had ended.
              start(nil)
            }
          }
          startMore()
          if outcome != nil { group.cancelAll() }
        }
      }
      group.cancelAll()
      return outcome ?? .failed(lastFailure ?? .cancelled(phase: .body, url: request.url))
    }
  }

  private func waitForTick() async -> Happening {
    try? await Task.sleep(for: Self.tick)
    return .tick
  }

  private func wantsMore(_ running: Int) -> Bool {
    guard canContinue else { return false }
    return shared.withLock { running < $0.tuner.wanted && $0.plan.hasWork }
  }

  /// Figures for those who look on.
  private func look(_ running: Int) {
    let now = elapsed
    let (segments, progress) = shared.withLock { shared in
      let received = shared.plan.count
      let isDue = shared.meter.update(received: received, decoded: received, now: now)
      // A part told it; the end of a body of unknown length is no announcement.
      if !shared.plan.isComplete, shared.meter.progress.total == nil {
        shared.meter.learn(total: shared.plan.total)
      }
      if !control.gate.isPaused {
        shared.tuner.measure(rate: shared.meter.progress.rate, running: running, now: now)
      }
      let segments = shared.plan.active.values.sorted { $0.start < $1.start }.map { segment in
        SegmentProgress(
          start: segment.start, end: segment.end == .max ? nil : segment.end, position: segment.position,
          rate: segment.rate)
      }
      return (segments, isDue ? shared.meter.progress : nil)
    }
    control.set(segments: segments)
    if let progress { state.report(progress) }
  }

  // MARK: what is on the disk

  /// Brings what has come to the disk, and then the record of it. Nil, or what the disk has against it.
  func checkpoint() async -> HTTPError? {
    guard keepsRecord else { return nil }
    for writer in shared.withLock({ Array($0.writers.values) }) { writer.flush() }
    do throws(HTTPError) {
      try await record(isDurable: true)
      return nil
    } catch {
      return error.kind.isDisk ? error : nil
    }
  }

  /// Writes the record: the digests' state first, then what surely is there, then the sync, then the record.
  func record(isDurable: Bool) async throws(HTTPError) {
    guard keepsRecord else { return }
    try await recordQueue.run { [self] () throws(HTTPError) in
      let (part, digests, recorded, digested) = shared.withLock {
        ($0.part, $0.digests, $0.recorded, $0.recordedDigests)
      }
      guard let part else { return }
      let kept = digests?.kept ?? []
      let done = part.written
      let reach = kept.first?.offset ?? 0
      if let recorded, recorded == done, digested == reach { return }
      if isDurable { try part.syncData() }
      let record = shared.withLock { shared in
        PartRecord(
          url: Redaction.url(request.url),
          finalURL: Redaction.url(shared.finalURL.isEmpty ? request.url : shared.finalURL),
          etag: shared.validator?.etag, lastModified: shared.validator?.lastModified,
          strong: shared.validator?.isStrong ?? false, total: shared.plan.total,
          segments: done.ranges.map { [$0.lowerBound, $0.upperBound] },
          digests: kept.filter { $0.offset <= done.end(from: 0) }, endVerifiable: shared.isEndVerifiable)
      }
      try part.sidecar.write(record, isDurable: isDurable)
      shared.withLock { shared in
        shared.recorded = done
        shared.recordedDigests = reach
      }
    }
  }
}
