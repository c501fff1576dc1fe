import Glibc
import Penstock

/// The right to run on a state file: one run at a time has it, and it goes with the process.
///
/// It is held on a file beside the database, for the system forgets all of a process's locks on a file that
/// SQLite uses as soon as any descriptor of it is closed.
final class StateLock: Sendable {
  private let descriptor: Int32

  init(for path: String) throws(HTTPError) {
    let name = path + ".lock"
    let opened = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
    guard opened >= 0 else { throw StateFailure.unreadable(path, Self.text(errno)) }
    var code = flock(opened, LOCK_EX | LOCK_NB)
    while code != 0, errno == EINTR { code = flock(opened, LOCK_EX | LOCK_NB) }
    guard code == 0 else {
      let number = errno
      close(opened)
      throw number == EWOULDBLOCK ? StateFailure.busy(path) : StateFailure.unreadable(path, Self.text(number))
    }
    descriptor = opened
  }

  // The file stays: removing it could take the lock from under somebody who waits to open it.
  deinit { close(descriptor) }

  private static func text(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }
}
