import Synchronization

/// Carries events out of middlewares to the reader of `client.events`: the middlewares run in a task of their
/// own, and what happens meanwhile waits here in order. It is little: heads are limited in size, redirects and
/// retries in number, and of upload progress only the latest waits.
final class EventRelay: Sendable {
  private struct State: Sendable, AwaitedState {
    var events: [TransferEvent] = []
    var end: Result<Response, HTTPError>?
    var hasEnded = false
    var reader: UnsafeContinuation<Void, Never>?
    var task: Task<Void, Never>?
    var hasNews: Bool { hasEnded || !events.isEmpty }
  }

  private enum Look { case event(TransferEvent), end(Result<Response, HTTPError>), wait, gone }

  private let state = Mutex(State())

  /// Starts the middlewares.
  func start(
    _ body: @escaping @Sendable () async throws(HTTPError) -> Response
  ) {
    let task = Task { [self] in
      let result: Result<Response, HTTPError>
      do throws(HTTPError) {
        result = .success(try await body())
      } catch {
        result = .failure(error)
      }
      finish(result)
    }
    let isOver = state.withLock { state in
      state.task = task
      return state.hasEnded
    }
    if isOver { task.cancel() }
  }

  func report(_ event: TransferEvent) {
    wake { state in
      guard !state.hasEnded else { return }
      if case .uploadProgress = event, case .uploadProgress? = state.events.last { state.events.removeLast() }
      state.events.append(event)
    }
  }

  /// What happened next; the response or failure is the last.
  func next(_ method: HTTPMethod, _ url: String) async throws(HTTPError) -> PipelineRun.Step {
    while true {
      switch look() {
      case .event(let event): return .event(event)
      case .end(let result): return .response(try result.get())
      case .gone: throw HTTPError.cancelled.naming(method: method, url: url)
      case .wait: await state.waitForNews { [self] in cancel() }
      }
    }
  }

  /// The reader has gone.
  func cancel() {
    finish(.failure(.cancelled))
    state.withLock { $0.task.take() }?.cancel()
  }

  private func look() -> Look {
    state.withLock { state in
      if !state.events.isEmpty { return .event(state.events.removeFirst()) }
      if let end = state.end.take() { return .end(end) }
      return state.hasEnded ? .gone : .wait
    }
  }

  private func finish(_ result: Result<Response, HTTPError>) {
    wake { state in
      guard !state.hasEnded else { return }
      state.hasEnded = true
      state.end = result
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let reader = state.withLock { state in
      change(&state)
      return state.reader.take()
    }
    reader?.resume()
  }
}
