/// Where a batch is.
public struct BatchStatus: Sendable, Hashable {
  /// Inputs read so far.
  public let read: Int
  /// Exchanges under way.
  public let running: Int
  /// Inputs that were read and wait, for a place, their host, or a repeat.
  public let queued: Int
}
