/// A piece of a body: a slice of shared memory, read without a copy.
///
/// A chunk keeps the block that it points into; copy it (`Array(chunk)`) if you keep a few bytes for long.
/// Chunks of up to 4 KiB keep at most 255 bytes more than themselves.
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
  /// Hands out the bytes one by one.
  public struct Iterator: IteratorProtocol {
    @usableFromInline let chunk: BodyChunk
    @usableFromInline var position: Int

    @inlinable
    init(_ chunk: BodyChunk) {
      self.chunk = chunk
      self.position = chunk.startIndex
    }

    /// The next byte, or nil at the end.
    @inlinable
    public mutating func next() -> UInt8? {
      guard position < chunk.endIndex else { return nil }
      defer { position &+= 1 }
      return chunk.slab.base.load(fromByteOffset: position, as: UInt8.self)
    }
  }

  /// An iterator over the bytes.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Copies the bytes at once: what `array += chunk` and `Array(chunk)` call.
  @inlinable
  public func _copyContents(
    initializing buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (Iterator, UnsafeMutableBufferPointer<UInt8>.Index) {
    var rest = makeIterator()
    let copied = Swift.min(count, buffer.count)
    if copied > 0, let target = buffer.baseAddress {
      UnsafeMutableRawPointer(target).copyMemory(from: slab.base + startIndex, byteCount: copied)
    }
    rest.position += copied
    return (rest, copied)
  }

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
  public static func == (left: BodyChunk, right: BodyChunk) -> Bool {
    guard left.count == right.count else { return false }
    return left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        var index = 0
        while index &+ 8 <= left.count {
          let word = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          if word != right.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
          index &+= 8
        }
        return left[index...].elementsEqual(right[index...])
      }
    }
  }

  /// The number of bytes; the content isn't shown.
  public var description: String { "BodyChunk(\(count) bytes)" }
}
