import Glibc
import StreamCore

/// Reads small files at once.
enum SmallFile {
  /// What a file is.
  struct Contents: Sendable {
    var bytes: [UInt8]
    /// The permission bits.
    var mode: UInt32
    var owner: UInt32
  }

  /// The whole file; nil when there is none. Throws `HTTPError.Kind.readFailed` for one that can't be read, is no
  /// regular file, or is larger than `limit` bytes.
  static func read(_ path: String, limit: Int = 1 << 20) throws(HTTPError) -> Contents? {
    // Not waiting: opening a FIFO would, until somebody writes it.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let number = errno
      if number == ENOENT { return nil }
      throw failure(path, text(number))
    }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw failure(path, text(errno)) }
    guard facts.st_mode & S_IFMT == S_IFREG else { throw failure(path, "it is no regular file") }
    var bytes: [UInt8] = []
    switch append(to: &bytes, from: descriptor, limit: limit) {
    case 0: break
    case EFBIG: throw failure(path, "it is larger than \(limit) bytes")
    case let number: throw failure(path, text(number))
    }
    return Contents(bytes: bytes, mode: UInt32(facts.st_mode) & 0o7777, owner: facts.st_uid)
  }

  /// Reads to the end. Returns 0, or the error number; EFBIG when more than `limit` bytes come.
  static func append(to bytes: inout [UInt8], from descriptor: Int32, limit: Int) -> Int32 {
    var block = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = Glibc.read(descriptor, &block, block.count)
      if count == 0 { return 0 }
      if count < 0 {
        if errno == EINTR { continue }
        return errno
      }
      bytes += block[..<count]
      if bytes.count > limit { return EFBIG }
    }
  }

  static func failure(_ path: String, _ why: String) -> HTTPError {
    HTTPError(.readFailed, phase: .file, message: "\"\(path)\" can't be read: \(why)")
  }

  static func text(_ number: Int32) -> String { FileFailure.text(number) }
}
