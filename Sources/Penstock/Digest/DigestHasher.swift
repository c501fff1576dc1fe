/// Computes a digest of bytes as they pass.
///
/// ```swift
/// var hasher = try DigestHasher(.sha256)
/// for try await chunk in response.body { try hasher.update(chunk) }
/// let digest = try hasher.finalize()
/// ```
public struct DigestHasher: ~Copyable, @unchecked Sendable {
  // Sendable: the struct can't be copied and nobody else holds its context.
  /// The algorithm that it was made for.
  public let algorithm: Digest.Algorithm
  private let context: DigestContext

  /// A hasher that has seen no bytes.
  ///
  /// Throws `HTTPError.Kind.outOfResources` where the cryptographic library refuses, such as for MD5 on a
  /// machine that forbids it.
  public init(_ algorithm: Digest.Algorithm) throws(HTTPError) {
    guard let context = DigestContext(algorithm) else { throw Self.refused(algorithm) }
    self.algorithm = algorithm
    self.context = context
  }

  /// Adds bytes. Throws `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  public mutating func update(_ chunk: BodyChunk) throws(HTTPError) {
    try chunk.withUnsafeBytes { (bytes) throws(HTTPError) in try update(bytes) }
  }

  /// Adds bytes. Throws `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  public mutating func update(_ bytes: [UInt8]) throws(HTTPError) {
    let taken = bytes.withUnsafeBytes { context.update($0) }
    if !taken { throw Self.refused(algorithm) }
  }

  /// Adds bytes. Throws `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) {
    if !context.update(bytes) { throw Self.refused(algorithm) }
  }

  /// The digest of all bytes that were added. Throws `HTTPError.Kind.outOfResources` where the cryptographic library
  /// refuses.
  public consuming func finalize() throws(HTTPError) -> Digest {
    guard let bytes = context.finalize(), let digest = Digest(algorithm, bytes: bytes) else {
      throw Self.refused(algorithm)
    }
    return digest
  }

  private static func refused(_ algorithm: Digest.Algorithm) -> HTTPError {
    HTTPError(
      .outOfResources, phase: .decode, message: "the cryptographic library refuses \(algorithm.rawValue)")
  }
}

extension Digest {
  /// The digest of these bytes; see `DigestHasher` for many pieces and for the errors.
  public static func of(_ bytes: [UInt8], _ algorithm: Algorithm) throws(HTTPError) -> Digest {
    var hasher = try DigestHasher(algorithm)
    try hasher.update(bytes)
    return try hasher.finalize()
  }
}
