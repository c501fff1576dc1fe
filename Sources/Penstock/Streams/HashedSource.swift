import Synchronization

/// The digest of a body that passes, for `ResponseBody.hashed(by:)`.
///
/// ```swift
/// let hash = BodyHash(.sha256)
/// let count = try await response.body.hashed(by: hash).written(to: "/tmp/file")
/// print(count, hash.digest?.hex ?? "-")
/// ```
public final class BodyHash: Sendable {
  /// How it is computed.
  public let algorithm: Digest.Algorithm
  /// What it must be.
  public let expected: Digest?
  private let result = Mutex<Digest?>(nil)

  /// A digest to be computed of one body.
  public init(_ algorithm: Digest.Algorithm) {
    self.algorithm = algorithm
    expected = nil
  }

  /// A digest that a body must have: another one makes it throw `HTTPError.Kind.checksumMismatch` at its end.
  public init(expecting digest: Digest) {
    algorithm = digest.algorithm
    expected = digest
  }

  /// The digest, once the body has come to its end; nil until then.
  public var digest: Digest? { result.withLock { $0 } }

  func finish(_ digest: Digest) { result.withLock { $0 = digest } }
}

/// A body whose digest is computed as it passes.
final class HashedSource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private let inner: any BodySource
  private let hash: BodyHash
  private let origin: BodyOrigin?
  private var hasher: DigestContext?
  private var failure: HTTPError?

  init(_ inner: any BodySource, hash: BodyHash, origin: BodyOrigin?) {
    self.inner = inner
    self.hash = hash
    self.origin = origin
    hasher = DigestContext(hash.algorithm)
    if hasher == nil { failure = refused }
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    if let failure { throw failure }
    if let chunk = try await inner.next() {
      if let hasher, !chunk.withUnsafeBytes({ hasher.update($0) }) { throw fail(refused) }
      return chunk
    }
    guard let hasher else { return nil }
    self.hasher = nil
    guard let bytes = hasher.finalize(), let digest = Digest(hash.algorithm, bytes: bytes) else {
      throw fail(refused)
    }
    hash.finish(digest)
    if let expected = hash.expected, expected != digest {
      let error = HTTPError(
        .checksumMismatch, phase: .body, message: "the body's digest is \(digest) and should be \(expected)",
        advice: "The content was changed on the way, or the digest belongs to another one")
      throw fail(origin?.naming(error) ?? error)
    }
    return nil
  }

  func abandon() { inner.abandon() }

  private func fail(_ error: HTTPError) -> HTTPError {
    inner.abandon()
    failure = error
    return error
  }

  private var refused: HTTPError {
    HTTPError(
      .outOfResources, phase: .decode,
      message: "the cryptographic library refuses \(hash.algorithm.rawValue)")
  }
}

extension ResponseBody {
  /// The body, whose digest is computed as it passes; `hash` has it when the end was read. One hash is for one
  /// body.
  public func hashed(by hash: BodyHash) -> ResponseBody {
    let origin = origin
    return layered(keepsLength: true) { HashedSource($0, hash: hash, origin: origin) }
  }
}
