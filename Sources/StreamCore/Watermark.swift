/// Byte limits of a buffer between the network and a reader.
///
/// At `high` or above the sender is held; at `low` or below it goes on.
public struct Watermark: Sendable, Hashable {
  /// The sender goes on when no more than this many bytes wait.
  public let low: Int
  /// The sender is held when this many bytes wait.
  public let high: Int

  /// Limits in bytes; `high` is kept at 1 or more, `low` at 0 or more and below `high`.
  public init(low: Int, high: Int) {
    self.high = max(1, high)
    self.low = max(0, min(low, self.high - 1))
  }

  /// 256 KiB and 1 MiB.
  public static let standard = Watermark(low: 256 << 10, high: 1 << 20)
}
