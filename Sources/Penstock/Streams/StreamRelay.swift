import Synchronization

/// Hands elements from a task that reads a stream to the one that asks for them. At most one element waits.
final class StreamRelay<Element: Sendable>: Sendable {
  /// What the asking task gets.
  enum Answer: Sendable {
    case element(Element)
    case end
    case failure(HTTPError)
    case timeOut
  }

  private struct State: Sendable {
    /// The reading task goes on whether anybody asks or not; a newer element takes the place of an older one.
    let isLatestWins: Bool
    var element: Element?
    var outcome: Answer?
    var isAsked = false
    var isStopped = false
    /// The questions so far: a limit of time is for one of them.
    var question = 0
    /// The last question whose time is over.
    var expired = 0
    var asker: UnsafeContinuation<Answer, Never>?
    var feeder: UnsafeContinuation<Bool, Never>?
    var task: Task<Void, Never>?
  }

  private let state: Mutex<State>

  private init(latestWins: Bool) { state = Mutex(State(isLatestWins: latestWins)) }

  /// A relay whose task reads this stream.
  static func reading<S: AsyncSequence & Sendable>(_ stream: S, latestWins: Bool) -> StreamRelay
  where S.Element == Element {
    let relay = StreamRelay(latestWins: latestWins)
    let task = Task { await relay.feed(stream) }
    relay.state.withLock { $0.task = task }
    return relay
  }

  // MARK: the reading task

  private func feed<S: AsyncSequence & Sendable>(_ stream: S) async where S.Element == Element {
    var iterator = stream.makeAsyncIterator()
    do {
      while await isWanted() {
        guard let element = try await iterator.next(isolation: nil) else { break }
        offer(element)
      }
      finish(.end)
    } catch {
      finish(.failure(.ofStream(error)))
    }
  }

  /// Returns when the next element is wanted; false when none is any more.
  private func isWanted() async -> Bool {
    await withUnsafeContinuation { continuation in
      let answer: Bool? = state.withLock { state in
        if state.isStopped { return false }
        if state.isAsked || state.isLatestWins { return true }
        state.feeder = continuation
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  private func offer(_ element: Element) {
    let asker = state.withLock { state in
      state.isAsked = false
      guard let asker = state.asker.take() else {
        state.element = element
        return UnsafeContinuation<Answer, Never>?.none
      }
      return asker
    }
    asker?.resume(returning: .element(element))
  }

  private func finish(_ outcome: Answer) {
    let asker = state.withLock { state in
      if state.outcome == nil { state.outcome = outcome }
      return state.asker.take()
    }
    asker?.resume(returning: outcome)
  }

  // MARK: the asking task

  /// The number of the next question, for `timeOut`.
  var nextQuestion: Int { state.withLock { $0.question + 1 } }

  /// The next element, or how it ended.
  func ask() async -> Answer {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let (answer, feeder): (Answer?, UnsafeContinuation<Bool, Never>?) = state.withLock { state in
          state.question += 1
          if let element = state.element.take() { return (.element(element), nil) }
          if let outcome = state.outcome { return (outcome, nil) }
          if state.isStopped { return (.failure(.cancelled(phase: .body)), nil) }
          if state.expired == state.question { return (Self.expire(&state), nil) }
          state.asker = continuation
          state.isAsked = true
          return (nil, state.feeder.take())
        }
        feeder?.resume(returning: true)
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      stop(.failure(.cancelled(phase: .body)))
    }
  }

  /// Answers the question of this number, if it is open or still to come, and stops the reading.
  func timeOut(_ question: Int) {
    let (asker, feeder, task) = state.withLock { state in
      state.expired = max(state.expired, question)
      guard state.question == question, state.asker != nil else {
        return (
          UnsafeContinuation<Answer, Never>?.none, UnsafeContinuation<Bool, Never>?.none,
          Task<Void, Never>?.none
        )
      }
      _ = Self.expire(&state)
      return (state.asker.take(), state.feeder.take(), state.task.take())
    }
    task?.cancel()
    asker?.resume(returning: .timeOut)
    feeder?.resume(returning: false)
  }

  private static func expire(_ state: inout State) -> Answer {
    state.isStopped = true
    state.outcome = .timeOut
    return .timeOut
  }

  /// Nothing is wanted any more.
  func stop(_ outcome: Answer = .failure(.cancelled(phase: .body))) {
    let (task, asker, feeder) = state.withLock { state in
      state.isStopped = true
      state.element = nil
      if state.outcome == nil { state.outcome = outcome }
      return (state.task.take(), state.asker.take(), state.feeder.take())
    }
    task?.cancel()
    asker?.resume(returning: outcome)
    feeder?.resume(returning: false)
  }
}

/// Stops a relay when its reader has gone.
final class RelayLease<Element: Sendable>: Sendable {
  let relay: StreamRelay<Element>
  init(_ relay: StreamRelay<Element>) { self.relay = relay }
  deinit { relay.stop() }
}
