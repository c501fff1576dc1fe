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

extension ResponseBody {
  /// The body unpacked, where its content is gzip: a `.gz` file, as opposed to a content coding, which the client
  /// takes off. Files one after another are one body, as with `gunzip`, and zeros between and behind them are passed over.
  ///
  /// - Parameter limits: what it may grow to; beyond them the body throws `HTTPError.Kind.bodyTooLarge`.
  /// - Returns: the body, which throws `HTTPError.Kind.contentEncoding` for damaged content and `truncated` where
  ///   it ends too early. A piece of 64 KiB and zlib's window are held.
  public func gunzipped(limits: DecodingLimits = .standard) -> ResponseBody {
    let origin = origin
    return layered(keepsLength: false) { source in
      do throws(HTTPError) {
        return GunzipSource(
          source, decoder: try ContentDecoder(gzipFileWithin: limits), origin: origin)
      } catch {
        return FailedSource(source, error)
      }
    }
  }

  /// The body packed as a gzip file, in pieces of up to 64 KiB.
  ///
  /// - Parameter level: 1 (fast) to 9 (small); others are taken for the nearest.
  public func gzipped(level: Int = 6) -> ResponseBody {
    let level = Int32(Swift.min(Swift.max(level, 1), 9))
    return layered(keepsLength: false) { CodedBodySource($0, .gzip, level: level) }
  }
}
