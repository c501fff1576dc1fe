import Glibc

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

  private func writeAll(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let written = Glibc.write(descriptor, part.baseAddress, part.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: if let failure = waitUntilWritable() { return failure }
      case EPIPE: return .brokenPipe
      case let number: return .failed(errno: number)
      }
    }
    return nil
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
