/// What guards do to requests, for whoever observes them.
public enum GuardEvent: Sendable, Equatable {
  /// A request of this key waits so long before it is sent.
  case delayed(key: String, by: Duration)
  /// A request of this key waits until another one has ended.
  case queued(key: String)
  /// A request of this key wasn't sent.
  case refused(key: String)
  /// A circuit has changed.
  case circuit(key: String, from: CircuitState, to: CircuitState)
  /// A second attempt was begun beside a slow first one.
  case hedged(key: String, after: Duration)
  /// The second attempt was the faster one.
  case hedgeWon(key: String)
  /// A fallback, counted from 0, took the place of what failed.
  case fellBack(Int)
  /// A request joined an equal one that is under way.
  case joined
  /// A request got an answer that is a moment old.
  case replayed
}

/// Gets the events of a guard, at once and in the task that caused them: be quick.
public typealias GuardObserver = @Sendable (GuardEvent) -> Void
