/// An attempt failed, and another one follows after a wait.
public struct RetryAttempt: Sendable, Hashable {
  /// The number of the attempt to come: 2, 3, …
  public let number: Int
  /// How long it waits.
  public let delay: Duration
  /// The attempt that failed.
  public let failed: HTTPError.Attempt

  /// What was wrong, in a few words: "status 503", or the error's message.
  public var reason: String { failed.reason }
}
