/// The bytes that test servers generate. The byte at offset `o` is `(i * 31 + i / 256) mod 256` with
/// `i = o mod 65521`: the period is a prime, so that swapped, lost or repeated blocks of any usual size show.
public enum TestContent {
  /// After this many bytes the content repeats.
  public static let period = 65_521

  /// Sixteen periods, so that a run of at least fifteen starts at any offset.
  static let block: [UInt8] = (0..<(16 * period)).map { byte(at: Int64($0)) }
  /// As many bytes as are there from any offset.
  static let longestRun = 15 * period

  /// The byte at an offset, which must not be negative.
  public static func byte(at offset: Int64) -> UInt8 {
    let index = Int(offset % Int64(period))
    return UInt8(truncatingIfNeeded: index * 31 + index >> 8)
  }

  /// `count` bytes from an offset; an empty array if either is negative.
  public static func bytes(from offset: Int64 = 0, count: Int) -> [UInt8] {
    guard offset >= 0, count > 0 else { return [] }
    return (0..<Int64(count)).map { byte(at: offset + $0) }
  }

  /// The offset of the first byte that differs from the content at `offset`, or nil if all are right.
  public static func firstMismatch(in bytes: some Collection<UInt8>, at offset: Int64) -> Int64? {
    var position = offset
    for byte in bytes {
      if byte != self.byte(at: position) { return position }
      position += 1
    }
    return nil
  }
}
