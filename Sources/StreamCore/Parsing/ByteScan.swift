/// Looks for bytes eight at a time.
package enum ByteScan {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// The first position at or after `start` that holds `byte`, or nil.
  @inline(__always)
  package static func first(
    _ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    let pattern = ones &* UInt64(byte)
    return scan(bytes, start, words: { zeroes(in: $0 ^ pattern) }, bytes: { $0 == byte })
  }

  /// The first position at or after `start` that holds one of two bytes, or nil.
  @inline(__always)
  package static func first(
    _ one: UInt8, or other: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    let pattern = ones &* UInt64(one)
    let otherPattern = ones &* UInt64(other)
    return scan(
      bytes, start, words: { zeroes(in: $0 ^ pattern) | zeroes(in: $0 ^ otherPattern) },
      bytes: { $0 == one || $0 == other })
  }

  /// The first position at or after `start` that ends a run of plain characters of a JSON string: a quotation
  /// mark, a backslash or a control character.
  @inline(__always)
  package static func firstOfStringEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    let quotes = ones &* 0x22
    let slashes = ones &* 0x5C
    return scan(
      bytes, start,
      words: { word in
        zeroes(in: word ^ quotes) | zeroes(in: word ^ slashes) | ((word &- ones &* 0x20) & ~word & highs)
      }, bytes: { $0 == 0x22 || $0 == 0x5C || $0 < 0x20 })
  }

  /// The first position at or after `start` that doesn't hold ASCII, or nil.
  @inline(__always)
  package static func firstNonASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    scan(bytes, start, words: { $0 & highs }, bytes: { $0 >= 0x80 })
  }

  /// Whether a text holds one of two ASCII characters.
  package static func holds(_ one: UInt8, or other: UInt8, _ text: String) -> Bool {
    let found = text.utf8.withContiguousStorageIfAvailable {
      first(one, or: other, in: UnsafeRawBufferPointer($0), from: 0) != nil
    }
    return found ?? text.utf8.contains { $0 == one || $0 == other }
  }

  /// A set high bit for each byte that is zero; above the lowest of them there may be false ones.
  @inline(__always)
  private static func zeroes(in word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }

  @inline(__always)
  private static func scan(
    _ bytes: UnsafeRawBufferPointer, _ start: Int, words: (UInt64) -> UInt64, bytes matches: (UInt8) -> Bool
  ) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    let end = bytes.count
    var index = max(0, start)
    func word(_ offset: Int) -> UInt64 {
      words(UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }
    // Most of what is looked for is near; only long runs take four words a turn with one branch.
    let near = min(end, index &+ 32)
    while index &+ 8 <= near {
      let hits = word(index)
      if hits != 0 { return index &+ hits.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index &+ 32 <= end {
      if (word(index) | word(index &+ 8)) | (word(index &+ 16) | word(index &+ 24)) != 0 { break }
      index &+= 32
    }
    while index &+ 8 <= end {
      let hits = word(index)
      if hits != 0 { return index &+ hits.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < end {
      if matches(base.load(fromByteOffset: index, as: UInt8.self)) { return index }
      index &+= 1
    }
    return nil
  }
}
