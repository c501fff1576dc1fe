import Glibc

/// Reading what the command line names. Failures are exit 26, before any request.
enum InputFile {
  /// All of a file or of standard input.
  static func read(_ source: Settings.InputSource) throws(CommandFailure) -> [UInt8] {
    switch source {
    case .standardInput: return try readAll(STDIN_FILENO, name: "standard input")
    case .file(let path):
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure(UsageError.quote(path), errno) }
      defer { close(descriptor) }
      return try readAll(descriptor, name: UsageError.quote(path))
    }
  }

  /// That a file is there and may be read, without opening it: opening a pipe would wait for its writer.
  static func check(_ path: String) throws(CommandFailure) {
    guard access(path, R_OK) == 0 else { throw failure(UsageError.quote(path), errno) }
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw failure(UsageError.quote(path), errno) }
    if facts.st_mode & S_IFMT == S_IFDIR { throw failure(UsageError.quote(path), EISDIR) }
  }

  /// Whether it is a regular file, with a length. One of no length may have content all the same (`/proc`): that
  /// is known when it is read.
  static func isRegular(_ path: String) -> Bool {
    var facts = stat()
    guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return false }
    return facts.st_size > 0 || isEmpty(path)
  }

  private static func isEmpty(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    return Glibc.read(descriptor, &byte, 1) <= 0
  }

  /// Whether it is a regular file that is better not kept in memory.
  static func isLarge(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_size > 1 << 20
  }

  private static func readAll(_ descriptor: Int32, name: String) throws(CommandFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += buffer[..<count]
        continue
      }
      let number = errno
      if number == EAGAIN {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, -1)
      } else if number != EINTR {
        throw failure(name, number)
      }
    }
  }

  private static func failure(_ name: String, _ number: Int32) -> CommandFailure {
    CommandFailure(status: .readFailed, message: "can't read \(name): \(SystemErrorText.text(for: number))")
  }
}
