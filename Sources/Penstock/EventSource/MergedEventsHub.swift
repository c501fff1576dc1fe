import Synchronization

/// What all event sources of one `merge` share: which have something to read, and which are connecting.
///
/// One task, the reader, takes what is there; other threads only say that there is something.
final class MergedEventsHub: Sendable {
  /// So many connect at a time.
  private static let connecting = 64
  private static let pieceSize = 32 << 10

  /// One source that is open: touched by the reader alone, once it is in the list of those that are ready.
  private struct Stream: Sendable {
    let run: EventSourceRun
    let source: any PollableBodySource
    var framer: ServerSentEventFramer
    /// What is left of the last chunk.
    var rest = BodyChunk.empty
  }

  /// What the reader is to look at.
  private enum Ready: Sendable {
    /// There may be bytes.
    case news(Int)
    case opened(Int, EventSourceRun, any PollableBodySource)
    case ended(Int, HTTPError?)
  }

  private struct State: AwaitedState, Sendable {
    var ready: [Ready] = []
    var firstReady = 0
    /// Sources that have still to connect; the run is nil for the first time.
    var waiting: [(index: Int, run: EventSourceRun?)] = []
    var connecting = 0
    var live: Int
    var tasks: [Int: Task<Void, Never>] = [:]
    var reader: UnsafeContinuation<Void, Never>?
    var isStopped = false
    var hasNews: Bool { isStopped || firstReady < ready.count || live == 0 }
  }

  private let sources: [EventSource]
  private let state: Mutex<State>
  /// The reader's own.
  private let streams: Mutex<[Int: Stream]>

  init(_ sources: [EventSource]) {
    self.sources = sources
    streams = Mutex([:])
    state = Mutex(State(live: sources.count))
    state.withLock { state in
      // The last one is taken first.
      state.waiting = sources.indices.reversed().map { ($0, nil) }
    }
    connectMore()
  }

  enum Answer: Sendable {
    /// `batch` has events of this source.
    case events(Int)
    case ended(Int, HTTPError?)
    case allEnded
  }

  /// Puts the events of one piece of one source into an empty batch.
  func next(into batch: inout [ServerSentEvent]) async throws(HTTPError) -> Answer {
    while true {
      if Task.isCancelled { stop() }
      let (ready, isOver, isStopped): (Ready?, Bool, Bool) = state.withLock { state in
        if state.isStopped { return (nil, true, true) }
        guard state.firstReady < state.ready.count else { return (nil, state.live == 0, false) }
        let ready = state.ready[state.firstReady]
        state.firstReady += 1
        if state.firstReady == state.ready.count || state.firstReady > 4096 {
          state.ready.removeFirst(state.firstReady)
          state.firstReady = 0
        }
        return (ready, false, false)
      }
      if isStopped {
        cleanUp()
        throw HTTPError.cancelled(phase: .body)
      }
      guard let ready else {
        if isOver { return .allEnded }
        await state.waitForNews { stop() }
        continue
      }
      if let answer = look(ready, into: &batch) { return answer }
    }
  }

  private func look(_ ready: Ready, into batch: inout [ServerSentEvent]) -> Answer? {
    switch ready {
    case .ended(let index, let failure):
      state.withLock { $0.live -= 1 }
      return .ended(index, failure)
    case .opened(let index, let run, let source):
      let stream = Stream(run: run, source: source, framer: run.framer)
      return read(index, stream, into: &batch)
    case .news(let index):
      guard let stream = streams.withLock({ $0.removeValue(forKey: index) }) else { return nil }
      return read(index, stream, into: &batch)
    }
  }

  /// Reads a piece at a time until there are events or nothing is left.
  private func read(_ index: Int, _ stream: Stream, into batch: inout [ServerSentEvent]) -> Answer? {
    var stream = stream
    while true {
      if stream.rest.isEmpty {
        // Before asking: the answer may come at once, on another thread. The reader looks at it only afterwards.
        switch stream.source.poll({ [weak self] in self?.tell(.news(index)) }) {
        case .chunk(let chunk): stream.rest = chunk
        case .end: return closed(index, stream, nil)
        case .failed(let error): return closed(index, stream, error)
        case .wait:
          keep(index, stream)
          return nil
        }
      }
      let end = stream.rest.startIndex + min(stream.rest.count, Self.pieceSize)
      let piece = stream.rest[stream.rest.startIndex..<end]
      stream.rest = end == stream.rest.endIndex ? .empty : stream.rest[end..<stream.rest.endIndex]
      var failure: HTTPError?
      do throws(HTTPError) { try stream.framer.feed(piece, into: &batch) } catch { failure = error }
      if !batch.isEmpty { stream.run.received() }
      if let failure {
        stream.source.abandon()
        let answer = closed(index, stream, failure)
        return batch.isEmpty ? answer : .events(index)
      }
      if !batch.isEmpty {
        keep(index, stream)
        // Behind the others: sources take turns.
        tell(.news(index))
        return .events(index)
      }
    }
  }

  private func keep(_ index: Int, _ stream: Stream) { streams.withLock { $0[index] = stream } }

  /// The stream is over: it connects again, or has ended.
  private func closed(_ index: Int, _ stream: Stream, _ failure: HTTPError?) -> Answer? {
    stream.run.closed(stream.framer, failure)
    queue(index, stream.run)
    return nil
  }

  // MARK: connecting

  private func connectMore() {
    while true {
      let next: (index: Int, run: EventSourceRun?)? = state.withLock { state in
        guard !state.isStopped, state.connecting < Self.connecting else { return nil }
        guard let next = state.waiting.popLast() else { return nil }
        state.connecting += 1
        return next
      }
      guard let next else { return }
      guard let run = next.run ?? sources[next.index].claimRun() else {
        left(next.index)
        tell(.ended(next.index, ResponseBody.alreadyConsumed))
        continue
      }
      let index = next.index
      start(index) { hub in await hub.connect(run, index) }
    }
  }

  /// Runs something for a source in a task that `stop` cancels.
  private func start(_ index: Int, _ body: @escaping @Sendable (MergedEventsHub) async -> Void) {
    state.withLock { state in
      if state.isStopped { return }
      state.tasks[index] = Task { [weak self] in
        if let self { await body(self) }
      }
    }
  }

  private func connect(_ run: EventSourceRun, _ index: Int) async {
    let attempt: EventSourceRun.Attempt
    do throws(HTTPError) {
      attempt = try await run.attempted()
    } catch {
      left(index)
      tell(.ended(index, error))
      connectMore()
      return
    }
    left(index)
    switch attempt {
    case .ended: tell(.ended(index, nil))
    case .mustPause: start(index) { hub in await hub.pause(run, index) }
    case .open(let body):
      guard let source = body.claimSource() else {
        tell(.ended(index, ResponseBody.alreadyConsumed))
        break
      }
      if !tell(.opened(index, run, TaskPolledSource.pollable(source))) { source.abandon() }
    }
    connectMore()
  }

  /// Waits, without keeping others from connecting.
  private func pause(_ run: EventSourceRun, _ index: Int) async {
    await run.pause()
    queue(index, run)
  }

  /// Puts a source among those that want to connect.
  private func queue(_ index: Int, _ run: EventSourceRun) {
    state.withLock { state in
      state.tasks[index] = nil
      if !state.isStopped { state.waiting.append((index, run)) }
    }
    connectMore()
  }

  /// An attempt is over.
  private func left(_ index: Int) {
    state.withLock { state in
      state.connecting -= 1
      state.tasks[index] = nil
    }
  }

  // MARK: the reader

  /// False when nobody reads any more.
  @discardableResult
  private func tell(_ ready: Ready) -> Bool {
    let (reader, isHeard) = state.withLock { state in
      if state.isStopped { return (UnsafeContinuation<Void, Never>?.none, false) }
      state.ready.append(ready)
      return (state.reader.take(), true)
    }
    reader?.resume()
    return isHeard
  }

  /// Ends everything; the reader, if it still is there, cleans up.
  func stop() {
    let (tasks, reader) = state.withLock { state in
      state.isStopped = true
      defer {
        state.tasks = [:]
        state.waiting = []
      }
      return (Array(state.tasks.values), state.reader.take())
    }
    for task in tasks { task.cancel() }
    reader?.resume()
  }

  /// Ends the open streams. For the reader, or for whoever comes after it.
  func cleanUp() {
    let left = state.withLock { state in
      defer {
        state.ready = []
        state.firstReady = 0
      }
      return Array(state.ready[state.firstReady...])
    }
    for case .opened(_, _, let source) in left { source.abandon() }
    let open = streams.withLock { streams in
      defer { streams = [:] }
      return Array(streams.values)
    }
    for stream in open { stream.source.abandon() }
  }
}
