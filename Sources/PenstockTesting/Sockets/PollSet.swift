internal import Glibc

/// One blocking wait for a socket, that the server's stop signal and optionally another signal interrupt.
struct PollSet {
  enum Outcome {
    /// The socket has at least one of the events; errors and hang-ups are always reported.
    case ready(Int16)
    case signalled
    case stopping
    case timedOut
  }

  static let readable = Int16(POLLIN)
  static let writable = Int16(POLLOUT)
  /// POLLRDHUP, which the C library hides without _GNU_SOURCE: the peer has ended its sending side.
  static let peerEnded: Int16 = 0x2000
  static let broken = Int16(POLLERR) | Int16(POLLHUP)

  private let socket: pollfd
  private let stop: pollfd
  private let signal: pollfd

  init(_ descriptor: Int32, events: Int16, stop: WakeSignal, signal: WakeSignal? = nil) {
    socket = pollfd(fd: descriptor, events: events, revents: 0)
    self.stop = pollfd(fd: stop.descriptor, events: Self.readable, revents: 0)
    // poll ignores negative descriptors.
    self.signal = pollfd(fd: signal?.descriptor ?? -1, events: Self.readable, revents: 0)
  }

  /// Waits until something happens or the deadline passes; nil waits for ever.
  func wait(until deadline: ContinuousClock.Instant? = nil) -> Outcome {
    var set = (socket, stop, signal)
    while true {
      let timeout = deadline.map { Self.milliseconds(until: $0) } ?? -1
      let count = withUnsafeMutableBytes(of: &set) { bytes in
        poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 3, timeout)
      }
      if set.1.revents != 0, count > 0 { return .stopping }
      if set.0.revents != 0, count > 0 { return .ready(set.0.revents) }
      if set.2.revents != 0, count > 0 { return .signalled }
      if let deadline, ContinuousClock.now >= deadline { return .timedOut }
    }
  }

  private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
    let (seconds, attoseconds) = (deadline - .now).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    // Rounded up, so that a wait never spins through its last millisecond.
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

extension ContinuousClock.Instant {
  /// The instant after a duration from now, which is cut to between nothing and three years, so that no sum can
  /// overflow.
  static func after(_ duration: Duration) -> Self {
    .now + max(.zero, min(duration, .seconds(100_000_000)))
  }
}
