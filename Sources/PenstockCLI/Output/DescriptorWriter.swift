import Glibc
import Penstock

/// Writes all of what it is given to a descriptor, however many calls that takes. It neither buffers nor owns
/// the descriptor, and leaves the flags of the descriptor alone: others may share it.
struct DescriptorWriter: Sendable {
  let descriptor: Int32

  static let standardOutput = DescriptorWriter(descriptor: STDOUT_FILENO)
  static let standardError = DescriptorWriter(descriptor: STDERR_FILENO)

  func write(_ text: String) throws(OutputError) {
    try write(Array(text.utf8))
  }

  func write(_ bytes: [UInt8]) throws(OutputError) {
    try write(bytes.span)
  }

  func write(_ bytes: Span<UInt8>) throws(OutputError) {
    let failure: OutputError? = bytes.withUnsafeBytes { writeAll($0) }
    if let failure { throw failure }
  }

  /// For bytes that are lent as a raw buffer (`BodyChunk.withUnsafeBytes`).
  func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
    if let failure = writeAll(bytes) { throw failure }
  }

  /// All pieces, with as few calls as can be.
  func write(pieces: [OutputQueue.Piece]) throws(OutputError) {
    var vectors = pieces.map { piece in
      switch piece {
      case .chunk(let chunk): chunk.withUnsafeBytes(Self.vector)
      // Moved by nobody: the array is neither changed nor freed before the end of the call.
      case .bytes(let bytes): bytes.withUnsafeBytes(Self.vector)
      }
    }
    if let failure = withExtendedLifetime(pieces, { writeAll(&vectors) }) { throw failure }
  }

  private static func vector(_ bytes: UnsafeRawBufferPointer) -> iovec {
    iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }

  private func writeAll(_ vectors: inout [iovec]) -> OutputError? {
    var first = 0
    while first < vectors.count {
      let written = vectors[first...].withUnsafeBufferPointer {
        writev(descriptor, $0.baseAddress, Int32(min($0.count, 1024)))
      }
      guard written >= 0 else {
        if let failure = failure(errno) { return failure }
        continue
      }
      var rest = written
      while first < vectors.count, rest >= vectors[first].iov_len {
        rest -= vectors[first].iov_len
        first += 1
      }
      if rest > 0 {
        vectors[first].iov_base = vectors[first].iov_base.map { $0 + rest }
        vectors[first].iov_len -= rest
      }
    }
    return nil
  }

  private func writeAll(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let written = Glibc.write(descriptor, part.baseAddress, part.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      if let failure = failure(errno) { return failure }
    }
    return nil
  }

  /// What an `errno` of a write means; nil to try again.
  private func failure(_ number: Int32) -> OutputError? {
    switch number {
    case EINTR: nil
    case EAGAIN: waitUntilWritable()
    case EPIPE: .brokenPipe
    default: .failed(errno: number)
    }
  }

  /// The other end of a non-blocking descriptor is full: wait, don't spin.
  private func waitUntilWritable() -> OutputError? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while poll(&entry, 1, -1) < 0 {
      if errno != EINTR { return .failed(errno: errno) }
    }
    return nil
  }
}
