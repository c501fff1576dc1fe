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
    try await bytes(of: body, HashFunction(algorithm)).flatMap { Digest(algorithm, bytes: $0) }
  }

  /// The same by any function, as bytes.
  static func bytes(of body: RequestBody, _ function: HashFunction) async throws(HTTPError) -> [UInt8]? {
    switch body.content {
    case .empty: return try of([UInt8](), function)
    case .bytes(let chunk): return try of(chunk, function)
    case .file(let path):
      let result = await Task.detached { () -> Result<[UInt8], HTTPError> in
        do throws(HTTPError) {
          return .success(try ofFile(path, function))
        } catch {
          return .failure(error)
        }
      }.value
      return try result.get()
    case .deferred: return try await bytes(of: try body.made(), function)
    case .stream: return nil
    }
  }

  /// The digest of bytes that are here.
  static func of(_ bytes: some RandomAccessCollection<UInt8>, _ function: HashFunction) throws(HTTPError)
    -> [UInt8]
  {
    let context = DigestContext(function)
    let isTaken = bytes.withContiguousStorageIfAvailable { context?.update(UnsafeRawBufferPointer($0)) }
    guard isTaken == true, let digest = context?.finalize() else { throw refused(function) }
    return digest
  }

  private static func refused(_ function: HashFunction) -> HTTPError {
    HTTPError(.outOfResources, phase: .queue, message: "the cryptographic library refuses \(function)")
  }

  private static func ofFile(_ path: String, _ function: HashFunction) throws(HTTPError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SmallFile.failure(path, SmallFile.text(errno)) }
    defer { close(descriptor) }
    guard let context = DigestContext(function) else { throw refused(function) }
    var block = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = Glibc.read(descriptor, &block, block.count)
      if count == 0 {
        guard let digest = context.finalize() else { throw refused(function) }
        return digest
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw SmallFile.failure(path, SmallFile.text(errno))
      }
      let isTaken = block.withUnsafeBytes { context.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      if !isTaken { throw refused(function) }
    }
  }
}
