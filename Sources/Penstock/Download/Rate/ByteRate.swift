import StreamCore

/// A speed: so many bytes a second.
public struct ByteRate: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Bytes a second, at least 1.
  public let bytesPerSecond: Int64

  /// So many bytes a second; less than 1 is taken for 1.
  public static func bytesPerSecond(_ count: Int64) -> ByteRate { ByteRate(bytesPerSecond: max(1, count)) }

  /// So much a second.
  public static func perSecond(_ count: ByteCount) -> ByteRate { .bytesPerSecond(count.bytes) }

  /// By speed.
  public static func < (left: ByteRate, right: ByteRate) -> Bool {
    left.bytesPerSecond < right.bytesPerSecond
  }

  /// Such as "20 MiB/s".
  public var description: String { "\(ByteCount.bytes(bytesPerSecond))/s" }
}
