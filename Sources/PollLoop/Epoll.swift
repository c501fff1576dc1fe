import CLinux
import Glibc

/// An epoll descriptor and the three calls on it.
struct Epoll: ~Copyable {
  private let fd: Int32
  /// False once `epoll_pwait2` was found missing.
  private var hasNanosecondWait = true

  init() throws(PollLoopError) {
    fd = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard fd >= 0 else { throw .epollUnavailable(errno: errno) }
  }

  deinit { _ = close(fd) }

  /// Returns 0 or an errno.
  func control(_ operation: Int32, fd target: Int32, events: UInt32, tag: UInt64) -> Int32 {
    var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: tag))
    return unsafe epoll_ctl(fd, operation, target, &event) == 0 ? 0 : errno
  }

  /// Waits for events. `timeout` in nanoseconds, nil: without end. An interrupted wait returns 0: the
  /// caller computes its timeout anew each turn.
  mutating func wait(_ buffer: UnsafeMutableBufferPointer<epoll_event>, timeout: UInt64?) -> Int {
    let limit = Int32(clamping: buffer.count)
    guard let base = buffer.baseAddress else { return 0 }
    if let timeout, timeout > 0, hasNanosecondWait {
      var wanted = timespec(
        tv_sec: Int(clamping: timeout / 1_000_000_000), tv_nsec: Int(timeout % 1_000_000_000))
      let count = unsafe cshims_epoll_pwait2(fd, base, limit, &wanted)
      if count >= 0 { return Int(count) }
      if errno == EINTR { return 0 }
      // ENOSYS from an old kernel, EPERM from an old container's call filter.
      hasNanosecondWait = false
    }
    let count = unsafe epoll_wait(fd, base, limit, Self.milliseconds(timeout))
    return max(0, Int(count))
  }

  /// Rounded up: a wait that is too short would turn the loop once more for nothing.
  static func milliseconds(_ timeout: UInt64?) -> Int32 {
    guard let timeout else { return -1 }
    let whole = timeout / 1_000_000
    return Int32(clamping: timeout % 1_000_000 == 0 ? whole : whole + 1)
  }
}
