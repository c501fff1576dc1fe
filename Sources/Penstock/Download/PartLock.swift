import Glibc

/// Opens a part so that nobody else writes it, in this process or another.
enum PartLock {
  /// The descriptor of a locked file of its own under that path, emptied unless its bytes are to be kept; nil when
  /// another download has it.
  static func take(_ path: String, keepingBytes: Bool = false) throws(HTTPError) -> Int32? {
    // The path may change hands between opening and locking; then it is opened anew.
    for _ in 0..<100 {
      // Not waiting: opening a FIFO would, until somebody reads it.
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
      guard opened >= 0 else {
        let number = errno
        if number == EINTR { continue }
        throw FileFailure.make(path, number, number == ELOOP ? "it is a symbolic link" : nil)
      }
      switch claim(opened, path, keepingBytes) {
      case .held: return opened
      case .busy:
        close(opened)
        return nil
      case .changed: close(opened)
      case .failed(let number, let what):
        close(opened)
        throw FileFailure.make(path, number, what)
      }
    }
    return nil
  }

  private enum Claim {
    case held, busy, changed
    case failed(Int32, String?)
  }

  private static func claim(_ opened: Int32, _ path: String, _ keepingBytes: Bool) -> Claim {
    var facts = stat()
    guard fstat(opened, &facts) == 0 else { return .failed(errno, nil) }
    guard facts.st_mode & S_IFMT == S_IFREG else { return .failed(EINVAL, "it is no regular file") }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      return errno == EWOULDBLOCK ? .busy : .failed(errno, "it can't be locked: \(FileFailure.text(errno))")
    }
    guard holds(opened, path) else { return .changed }
    guard fstat(opened, &facts) == 0 else { return .failed(errno, nil) }
    if facts.st_nlink > 1 {
      // Somebody keeps these bytes under another name, such as a run that was killed between linking and
      // unlinking: emptying it would empty that file.
      return unlink(path) == 0 ? .changed : .failed(errno, nil)
    }
    if keepingBytes { return .held }
    guard ftruncate(opened, 0) == 0 else { return .failed(errno, nil) }
    return .held
  }

  /// Whether the path still leads to this very file.
  static func holds(_ opened: Int32, _ path: String) -> Bool {
    var mine = stat()
    var there = stat()
    return opened >= 0 && fstat(opened, &mine) == 0 && lstat(path, &there) == 0
      && mine.st_dev == there.st_dev && mine.st_ino == there.st_ino
  }
}
