import Synchronization

/// What a body has at a moment.
package enum BodyPoll: Sendable {
  case chunk(BodyChunk)
  case end
  case failed(HTTPError)
  /// Nothing: the closure that was handed in is called once there is news.
  case wait
}

/// A body that can be read without a task that waits for it: ten thousand of them need one.
package protocol PollableBodySource: BodySource {
  /// What is there. After `.wait` the closure is called once, on whatever thread, and nothing may be asked before.
  func poll(_ wake: @escaping @Sendable () -> Void) -> BodyPoll
}

/// Any body made so: a task waits for each chunk.
package final class TaskPolledSource: PollableBodySource {
  private struct State: Sendable {
    var result: BodyPoll?
    var task: Task<Void, Never>?
  }

  private let inner: any BodySource
  private let state = Mutex(State())

  private init(_ inner: any BodySource) { self.inner = inner }

  /// The source itself where it can be asked.
  package static func pollable(_ source: any BodySource) -> any PollableBodySource {
    source as? any PollableBodySource ?? TaskPolledSource(source)
  }

  package func poll(_ wake: @escaping @Sendable () -> Void) -> BodyPoll {
    if let result = state.withLock({ $0.result.take() }) { return result }
    let task = Task { [inner, weak self] in
      let result: BodyPoll
      do throws(HTTPError) {
        result = try await inner.next().map { .chunk($0) } ?? .end
      } catch {
        result = .failed(error)
      }
      self?.state.withLock { $0.result = result }
      wake()
    }
    state.withLock { $0.task = task }
    return .wait
  }

  package func next() async throws(HTTPError) -> BodyChunk? { try await inner.next() }

  package func abandon() {
    state.withLock { $0.task.take() }?.cancel()
    inner.abandon()
  }
}

/// Who is told of news.
package enum SleepingReader: Sendable {
  case task(UnsafeContinuation<Void, Never>)
  case callback(@Sendable () -> Void)

  package func resume() {
    switch self {
    case .task(let continuation): continuation.resume()
    case .callback(let wake): wake()
    }
  }
}
