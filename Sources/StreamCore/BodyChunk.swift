/// A piece of a body: a slice of shared memory, read without a copy.
///
/// A chunk keeps the block that it points into; copy it (`Array(chunk)`) if you keep a few bytes for long.
/// Chunks of up to 4 KiB never keep more than themselves.
public struct BodyChunk: Sendable {
  @usableFromInline let slab: Slab
  /// The position of the first byte.
  public let startIndex: Int
  /// The position after the last byte.
  public internal(set) var endIndex: Int

  package init(slab: Slab, range: Range<Int>) {
    self.slab = slab
    self.startIndex = range.lowerBound
    self.endIndex = range.upperBound
  }

  /// A chunk with a copy of these bytes.
  public init(_ bytes: some Sequence<UInt8>) {
    self.init(copying: bytes)
  }

  /// No bytes.
  public static let empty = BodyChunk(slab: Slab(capacity: 0), range: 0..<0)

  private init(copying bytes: some Sequence<UInt8>) {
    let copied: BodyChunk? = bytes.withContiguousStorageIfAvailable { buffer in
      let slab = Slab(capacity: buffer.count)
      return BodyChunk(slab: slab, range: 0..<slab.append(UnsafeRawBufferPointer(buffer)))
    }
    if let copied {
      self = copied
    } else {
      self.init(copying: Array(bytes))
    }
  }

  /// The same bytes outside the pool where they are few and would hold back a large block.
  package func compacted() -> BodyChunk {
    guard count <= SlabPool.exactLimit, slab.capacity > 4 * SlabPool.exactLimit else { return self }
    return withUnsafeBytes { bytes in
      let copy = Slab(capacity: bytes.count)
      return BodyChunk(slab: copy, range: 0..<copy.append(bytes))
    }
  }

  /// Adds the bytes to an array in one copy, in builds without optimization too.
  package func append(to array: inout [UInt8]) {
    withUnsafeBytes { array.append(contentsOf: $0) }
  }

  /// Calls `body` with the bytes; they are valid during the call alone.
  @inlinable
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: slab.base + startIndex, count: endIndex - startIndex))
  }

  /// Calls `body` with the bytes as a span.
  @inlinable
  public func withSpan<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let buffer = UnsafeBufferPointer(
      start: UnsafePointer((slab.base + startIndex).assumingMemoryBound(to: UInt8.self)),
      count: endIndex - startIndex)
    return try body(Span(_unsafeElements: buffer))
  }
}

extension BodyChunk: RandomAccessCollection {
  /// The byte at a position.
  @inlinable
  public subscript(position: Int) -> UInt8 {
    precondition(position >= startIndex && position < endIndex, "index out of the chunk's range")
    return slab.base.load(fromByteOffset: position, as: UInt8.self)
  }

  /// A part of the chunk that shares its memory.
  public subscript(bounds: Range<Int>) -> BodyChunk {
    precondition(
      bounds.lowerBound >= startIndex && bounds.upperBound <= endIndex, "range out of the chunk's range")
    return BodyChunk(slab: slab, range: bounds)
  }

  /// The bytes as contiguous storage, always.
  @inlinable
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    try body(
      UnsafeBufferPointer(
        start: UnsafePointer((slab.base + startIndex).assumingMemoryBound(to: UInt8.self)),
        count: endIndex - startIndex))
  }
}

extension BodyChunk: Equatable, CustomStringConvertible {
  /// Whether two chunks hold the same bytes.
  public static func == (left: BodyChunk, right: BodyChunk) -> Bool { left.elementsEqual(right) }

  /// The number of bytes; the content isn't shown.
  public var description: String { "BodyChunk(\(count) bytes)" }
}
