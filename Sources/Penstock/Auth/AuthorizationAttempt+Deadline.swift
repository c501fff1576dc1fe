import StreamCore

extension AuthorizationAttempt {
  /// Runs what may wait for a token, a refresh or a challenge within the time that the call has left. The wait itself is
  /// left as a cancelled task leaves it: others that wait for the same refresh are not touched.
  func withinDeadline<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value {
    guard let deadline else { return try await body() }
    let clock = client.stages.clock
    let ended = await withTaskGroup(of: Result<Value, HTTPError>?.self) { group in
      group.addTask {
        do throws(HTTPError) {
          return .success(try await body())
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        do {
          try await clock.sleep(max(.zero, deadline - clock.now()))
        } catch {
          // The client was shut down.
          if let error = error as? HTTPError { return .failure(error) }
        }
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    if let ended {
      do throws(HTTPError) {
        return try ended.get()
      } catch {
        throw error.naming(method: request.method, url: request.url)
      }
    }
    if Task.isCancelled { throw HTTPError.cancelled.naming(method: request.method, url: request.url) }
    throw HTTPError(
      .totalTimeout, phase: .queue,
      message: "the call's time was over while its authorization was waited for",
      advice: "Raise `TimeLimits.total`, or look why the refresh is slow", method: request.method,
      url: request.url)
  }
}
