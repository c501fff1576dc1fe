/// A body whose bytes are gzip files (RFC 1952), one after another, unpacked.
final class GunzipSource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private let inner: any BodySource
  private let decoder: ContentDecoder
  private let origin: BodyOrigin?
  private var hasEnded = false

  init(_ inner: any BodySource, decoder: ContentDecoder, origin: BodyOrigin?) {
    self.inner = inner
    self.decoder = decoder
    self.origin = origin
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    while true {
      do throws(HTTPError) {
        if let piece = try decoder.next() { return piece }
        if hasEnded {
          try decoder.finish()
          return nil
        }
      } catch {
        inner.abandon()
        throw origin?.naming(error) ?? error
      }
      if let chunk = try await inner.next() { decoder.feed(chunk) } else { hasEnded = true }
    }
  }

  func abandon() { inner.abandon() }
}

/// A body packed as one gzip file.
final class GzipSource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private static let pieceSize = 64 << 10

  private let inner: any BodySource
  private let stream: DeflateStream
  private var input = BodyChunk.empty
  private var inputHasEnded = false
  private var hasEnded = false

  init(_ inner: any BodySource, _ stream: DeflateStream) {
    self.inner = inner
    self.stream = stream
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    let slab = Slab(capacity: Self.pieceSize)
    while !hasEnded, slab.room > 0 {
      if input.isEmpty, !inputHasEnded {
        if let chunk = try await inner.next() { input = chunk } else { inputHasEnded = true }
        continue
      }
      let outcome = input.withUnsafeBytes { stream.deflate($0, into: slab.tail, isLast: inputHasEnded) }
      guard let outcome else {
        inner.abandon()
        throw HTTPError(.outOfResources, phase: .decode, message: "no memory for a gzip encoder")
      }
      slab.commit(outcome.progress.produced)
      input = input[input.startIndex + outcome.progress.consumed..<input.endIndex]
      hasEnded = outcome.hasEnded
    }
    return slab.used == 0 ? nil : BodyChunk(slab: slab, range: 0..<slab.used)
  }

  func abandon() { inner.abandon() }
}

extension ResponseBody {
  /// The body unpacked, where its content is gzip: a `.gz` file, as opposed to a content coding, which the client
  /// takes off. Files one after another are one body, as with `gunzip`.
  ///
  /// - Parameter limits: what it may grow to; beyond them the body throws `HTTPError.Kind.bodyTooLarge`.
  /// - Returns: the body, which throws `HTTPError.Kind.contentEncoding` for damaged content and `truncated` where
  ///   it ends too early. A piece of 64 KiB and zlib's window are held.
  public func gunzipped(limits: DecodingLimits = .standard) -> ResponseBody {
    let origin = origin
    return layered(keepsLength: false) { source in
      do throws(HTTPError) {
        return GunzipSource(
          source, decoder: try ContentDecoder(codings: [.gzip], limits: limits), origin: origin)
      } catch {
        return FailedSource(source, error)
      }
    }
  }

  /// The body packed as a gzip file, in pieces of up to 64 KiB.
  ///
  /// - Parameter level: 1 (fast) to 9 (small); others are taken for the nearest.
  public func gzipped(level: Int = 6) -> ResponseBody {
    layered(keepsLength: false) { source in
      guard let stream = DeflateStream(level: Int32(Swift.min(Swift.max(level, 1), 9))) else {
        return FailedSource(
          source, HTTPError(.outOfResources, phase: .decode, message: "no memory for a gzip encoder"))
      }
      return GzipSource(source, stream)
    }
  }
}
