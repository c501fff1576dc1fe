import Glibc
import StreamCore

/// Digests of request bodies, for signatures.
enum BodyDigest {
  /// The digest of what will be sent; nil for a stream, which can't be read ahead.
  ///
  /// A file is read once more for it, away from the caller's thread. Throws `HTTPError.Kind.readFailed` when it
  /// can't be.
  static func of(_ body: RequestBody, _ algorithm: Digest.Algorithm = .sha256) async throws(HTTPError)
    -> Digest?
  {
    switch body.content {
    case .empty: return try Digest.of([], algorithm)
    case .bytes(let chunk):
      var hasher = try DigestHasher(algorithm)
      try hasher.update(chunk)
      return try hasher.finalize()
    case .file(let path):
      let result = await Task.detached { () -> Result<Digest, HTTPError> in
        do throws(HTTPError) {
          return .success(try ofFile(path, algorithm))
        } catch {
          return .failure(error)
        }
      }.value
      return try result.get()
    case .deferred: return try await of(try body.made(), algorithm)
    case .stream: return nil
    }
  }

  private static func ofFile(_ path: String, _ algorithm: Digest.Algorithm) throws(HTTPError) -> Digest {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SmallFile.failure(path, SmallFile.text(errno)) }
    defer { close(descriptor) }
    var hasher = try DigestHasher(algorithm)
    var block = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = Glibc.read(descriptor, &block, block.count)
      if count == 0 { return try hasher.finalize() }
      if count < 0 {
        if errno == EINTR { continue }
        throw SmallFile.failure(path, SmallFile.text(errno))
      }
      try hasher.update(count == block.count ? block : Array(block[..<count]))
    }
  }
}
