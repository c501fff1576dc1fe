import Glibc
import StreamCore

/// Files that hold secrets: readable for their owner alone, replaced in one step, locked between processes.
struct SecretFileAccess: Sendable {
  let path: String

  /// The content; nil when there is no file. Throws `HTTPError.Kind.readFailed` for one that others may read or
  /// write or that belongs to somebody else.
  func read() throws(HTTPError) -> [UInt8]? {
    guard let contents = try SmallFile.read(path) else { return nil }
    if contents.mode & 0o077 != 0 {
      throw HTTPError(
        .readFailed, phase: .file,
        message:
          "\"\(path)\" holds secrets and others may read or write it (mode \(String(contents.mode, radix: 8)))",
        advice: "chmod 600 it, and change what it holds if others have access to this machine")
    }
    guard contents.owner == geteuid() else {
      throw SmallFile.failure(path, "it belongs to another user")
    }
    return contents.bytes
  }

  /// Replaces the content in one step: a reader sees the old or the new one, after a crash too.
  func write(_ bytes: [UInt8]) throws(HTTPError) {
    let number = AtomicFile.replace(path, with: bytes, access: .ownerOnly, durability: .contentAndName)
    if number != 0 { throw failure(number) }
  }

  /// Removes the file; one that isn't there is as good.
  func remove() throws(HTTPError) {
    if unlink(path) != 0, errno != ENOENT { throw failure(errno) }
  }

  private func failure(_ number: Int32) -> HTTPError {
    HTTPError(
      .writeFailed, phase: .file, message: "\"\(path)\" can't be written: \(SmallFile.text(number))")
  }

  /// Holds a lock beside the file while a closure runs, in this process and against others. Waits for it without
  /// blocking a thread; a cancelled task leaves with `HTTPError.cancelled`.
  func locked<Value: Sendable>(
    _ body: () async throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value {
    let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    var pause = Duration.milliseconds(1)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      guard number == EWOULDBLOCK || number == EINTR else { throw failure(number) }
      do { try await Task.sleep(for: pause) } catch { throw HTTPError.cancelled(phase: .file) }
      pause = min(pause * 2, .milliseconds(50))
    }
    return try await body()
  }
}
