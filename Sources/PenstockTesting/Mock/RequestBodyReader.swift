import Glibc
import StreamCore

/// Reads a request's body to its end, as a server would get it.
enum RequestBodyReader {
  /// - Throws: `readFailed` for a file that can't be read, and what the stream of a body throws.
  static func collect(_ body: RequestBody) async throws(HTTPError) -> [UInt8] {
    switch body.content {
    case .empty: return []
    case .bytes(let chunk): return Array(chunk)
    case .file(let path): return try FileContent.read(path)
    case .deferred(let make): return try await collect(make())
    case .stream(let make):
      let lease = SourceLease(make())
      defer { lease.end() }
      var bytes: [UInt8] = []
      while let chunk = try await lease.source.next() { chunk.append(to: &bytes) }
      return bytes
    }
  }
}

/// Small files, whole.
enum FileContent {
  static func read(_ path: String) throws(HTTPError) -> [UInt8] {
    func failure() -> HTTPError {
      HTTPError(
        .readFailed, phase: .file,
        message: "the file \"\(path)\" can't be read: \(String(cString: strerror(errno)))")
    }
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure() }
      if count == 0 { return bytes }
      bytes += block[..<count]
    }
  }

  /// Adds to a file, which is made if it isn't there.
  static func append(_ bytes: [UInt8], to path: String) throws(HTTPError) {
    func failure() -> HTTPError {
      HTTPError(
        .writeFailed, phase: .file,
        message: "the file \"\(path)\" can't be written: \(String(cString: strerror(errno)))")
    }
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure() }
      rest = rest.dropFirst(count)
    }
  }
}
