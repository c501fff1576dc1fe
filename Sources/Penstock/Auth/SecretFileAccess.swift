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
    let temporary = "\(path).\(getpid()).\(RandomBytes.text(6)).new"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure(errno) }
    var number = Self.writeAll(bytes, to: descriptor)
    // The process's mask may only take bits away, so that 0600 is what there is at most.
    if number == 0, fchmod(descriptor, 0o600) != 0 || fsync(descriptor) != 0 { number = errno }
    close(descriptor)
    if number == 0, rename(temporary, path) != 0 { number = errno }
    if number != 0 {
      unlink(temporary)
      throw failure(number)
    }
    syncFolder()
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return errno
      }
      rest = rest.dropFirst(count)
    }
    return 0
  }

  private func syncFolder() {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
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
