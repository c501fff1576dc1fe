import Glibc

/// Time and chance for the stages that wait: retries and guards. Tests put their own in its place.
package struct PipelineClock: Sendable {
  /// The time that limits and waits are measured on.
  package var now: @Sendable () -> MonotonicInstant
  /// Waits; throws when the task is cancelled.
  package var sleep: @Sendable (Duration) async throws -> Void
  /// Seconds since 1970, for dates in fields.
  package var secondsSinceEpoch: @Sendable () -> Int64
  /// A number in 0..<1.
  package var random: @Sendable () -> Double

  package init(
    now: @escaping @Sendable () -> MonotonicInstant,
    sleep: @escaping @Sendable (Duration) async throws -> Void,
    secondsSinceEpoch: @escaping @Sendable () -> Int64, random: @escaping @Sendable () -> Double
  ) {
    self.now = now
    self.sleep = sleep
    self.secondsSinceEpoch = secondsSinceEpoch
    self.random = random
  }

  /// The machine's own.
  package static let system = PipelineClock(
    now: { .now }, sleep: { try await Task.sleep(for: $0, tolerance: .zero) },
    secondsSinceEpoch: { Int64(time(nil)) }, random: { Double.random(in: 0..<1) })

  /// Waits, with the errors that a wait can end by: `cancelled`, and `shutdown` with the client.
  package func wait(
    _ duration: Duration, method: HTTPMethod, url: String
  ) async throws(HTTPError) {
    do {
      try await sleep(duration)
    } catch {
      throw (error as? HTTPError ?? .cancelled).naming(method: method, url: url)
    }
  }

  /// The same clock, whose waits throw `HTTPError.Kind.shutdown` when the client is shut down.
  func ending(with ending: ClientEnding) -> PipelineClock {
    var clock = self
    clock.sleep = { [sleep] duration in try await ending.wait { try await sleep(duration) } }
    return clock
  }
}
