import CLinux
import Glibc

/// The eventfd that ends a wait of the loop. The command queue decides when a write is needed.
///
/// It is polled edge-triggered: each write raises an event of its own, so the counter is never read. It
/// would take 2^64 - 1 wake-ups to fill it.
struct Wakeup: ~Copyable {
  let fd: Int32

  init() throws(PollLoopError) {
    fd = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard fd >= 0 else { throw .eventDescriptorUnavailable(errno: errno) }
  }

  deinit { _ = close(fd) }

  func signal() {
    var one: UInt64 = 1
    while unsafe write(fd, &one, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
  }
}
