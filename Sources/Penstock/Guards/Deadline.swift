/// An instant by which everything must be done that a task asks for: all calls inside `Deadline.with` get at most
/// the time that is left, whatever they do (wait for admission, follow redirects, retry, read bodies).
///
/// ```swift
/// try await Deadline.with(.seconds(2)) {
///   let user = try await client.send(.get("https://api/user"))
///   let team = try await client.send(.get("https://api/team"))
/// }
/// ```
public struct Deadline: Sendable, Hashable {
  /// When it is, in one word: each call looks for one.
  let moment: MonotonicInstant

  /// When it is.
  public var instant: ContinuousClock.Instant { ContinuousClock.Instant(moment) }

  /// At an instant.
  public init(_ instant: ContinuousClock.Instant) { moment = MonotonicInstant(instant) }

  /// The deadline of this task; nil when there is none. Child tasks inherit it.
  @TaskLocal public static var current: Deadline?

  /// How much time is left.
  public var timeLeft: Duration { max(.zero, instant - .now) }

  /// Runs a closure whose calls must be over within `limit`; an earlier deadline around it stays in force.
  ///
  /// - Throws: what the closure throws. A call that runs out of time throws `HTTPError.Kind.totalTimeout`.
  public static func with<Value>(
    _ limit: Duration, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let own = Deadline(.now + limit)
    let deadline = current.map { $0.instant < own.instant ? $0 : own } ?? own
    return try await $current.withValue(deadline) { try await body() }
  }
}
