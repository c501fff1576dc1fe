/// A body in chunks of one size.
final class RechunkedSource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private let inner: any BodySource
  private let size: Int
  private var rest = BodyChunk.empty
  /// The beginning of a chunk whose rest is still to come.
  private var held: Slab?

  init(_ inner: any BodySource, size: Int) {
    self.inner = inner
    self.size = size
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    while true {
      if let chunk = cut() { return chunk }
      guard let next = try await inner.next() else { return last() }
      rest = next
    }
  }

  func abandon() {
    inner.abandon()
    rest = .empty
    held = nil
  }

  /// A whole chunk, if there is one; else all bytes at hand are held.
  private func cut() -> BodyChunk? {
    if rest.isEmpty { return nil }
    if held == nil, rest.count >= size { return taken(size) }
    let slab = held ?? Slab(capacity: size)
    held = slab
    let piece = taken(min(rest.count, slab.room))
    _ = piece.withUnsafeBytes { slab.append($0) }
    guard slab.room == 0 else { return nil }
    held = nil
    return BodyChunk(slab: slab, range: 0..<size)
  }

  private func taken(_ count: Int) -> BodyChunk {
    let piece = rest[rest.startIndex..<rest.startIndex + count]
    rest = rest[rest.startIndex + count..<rest.endIndex]
    return piece
  }

  private func last() -> BodyChunk? {
    guard let slab = held else { return nil }
    held = nil
    return BodyChunk(slab: slab, range: 0..<slab.used)
  }
}

extension ResponseBody {
  /// The body in chunks of exactly so many bytes, the last one excepted. One chunk is held; those that lie within
  /// what came aren't copied.
  ///
  /// - Parameter bytes: at least 1; a smaller number makes the body throw
  ///   `HTTPError.Kind.invalidConfiguration`.
  public func rechunked(bytes: Int) -> ResponseBody {
    guard bytes > 0 else {
      return layered(keepsLength: false) {
        FailedSource(
          $0,
          HTTPError(
            .invalidConfiguration, phase: .body, message: "the size of a chunk must be at least 1 byte"))
      }
    }
    return layered(keepsLength: true) { RechunkedSource($0, size: bytes) }
  }
}

/// A body that can't be read, for a reason that was found before its first byte.
final class FailedSource: BodySource {
  private let inner: any BodySource
  private let error: HTTPError

  init(_ inner: any BodySource, _ error: HTTPError) {
    inner.abandon()
    self.inner = inner
    self.error = error
  }

  func next() async throws(HTTPError) -> BodyChunk? { throw error }
  func abandon() { inner.abandon() }
}
