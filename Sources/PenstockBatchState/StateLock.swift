import Glibc
import Penstock

/// The right to run on a state file: one run at a time has it, and it goes with the process.
///
/// It is held on a file beside the database, for the system forgets all of a process's locks on a file that
/// SQLite uses as soon as any descriptor of it is closed. Whoever lets go removes that file first; a lock on a file
/// that has been removed meanwhile is worth nothing, so a new holder looks whether it still is the one of that name.
final class StateLock: Sendable {
  private let name: String
  private let descriptor: Int32

  init(for path: String) throws(HTTPError) {
    name = path + ".lock"
    while true {
      let opened = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
      guard opened >= 0 else { throw StateFailure.unreadable(path, Self.text(errno)) }
      var code = flock(opened, LOCK_EX | LOCK_NB)
      while code != 0, errno == EINTR { code = flock(opened, LOCK_EX | LOCK_NB) }
      guard code == 0 else {
        let number = errno
        close(opened)
        throw number == EWOULDBLOCK
          ? StateFailure.busy(path) : StateFailure.unreadable(path, Self.text(number))
      }
      if Self.isNamed(opened, name) {
        descriptor = opened
        return
      }
      close(opened)
    }
  }

  deinit {
    // While the lock is held: nobody else's file can have this name.
    unlink(name)
    close(descriptor)
  }

  private static func isNamed(_ descriptor: Int32, _ name: String) -> Bool {
    var held = stat()
    var named = stat()
    return fstat(descriptor, &held) == 0 && lstat(name, &named) == 0 && held.st_ino == named.st_ino
      && held.st_dev == named.st_dev
  }

  private static func text(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }
}
