/// A number of bytes, used for limits.
public struct ByteCount: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number of bytes.
  public let bytes: Int64

  /// So many bytes.
  public static func bytes(_ count: Int64) -> ByteCount { ByteCount(bytes: count) }
  /// So many times 1,024 bytes.
  public static func kibibytes(_ count: Int64) -> ByteCount { ByteCount(scaling: count, by: 1 << 10) }
  /// So many times 1,048,576 bytes.
  public static func mebibytes(_ count: Int64) -> ByteCount { ByteCount(scaling: count, by: 1 << 20) }
  /// So many times 1,073,741,824 bytes.
  public static func gibibytes(_ count: Int64) -> ByteCount { ByteCount(scaling: count, by: 1 << 30) }
  /// No limit in practice.
  public static let unlimited = ByteCount(bytes: .max)

  private init(bytes: Int64) { self.bytes = bytes }

  private init(scaling count: Int64, by unit: Int64) {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    self.bytes = overflow ? (count < 0 ? .min : .max) : product
  }

  /// By size.
  public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

  /// In the largest unit that divides it.
  public var description: String {
    if bytes == .max { return "unlimited" }
    for (unit, name) in [(Int64(1) << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
    where bytes >= unit && bytes % unit == 0 {
      return "\(bytes / unit) \(name)"
    }
    return "\(bytes) bytes"
  }
}
