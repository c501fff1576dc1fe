internal import Glibc
internal import StreamCore
internal import Synchronization

/// A counting signal that `poll` can wait for: a connected pair of sockets, a byte in it is one release, and a
/// closed writing side releases all for ever. A socket pair, since it can be created close-on-exec at once.
final class WakeSignal: Sendable {
  private struct Ends {
    var reading: Int32
    var writing: Int32
    var isOpened = false
  }

  /// Readable when there is something to take.
  let descriptor: Int32
  private let ends: Mutex<Ends?>

  init() throws(TestServerError) {
    var pair: (Int32, Int32) = (-1, -1)
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let result = withUnsafeMutableBytes(of: &pair) { bytes in
      socketpair(AF_UNIX, kind, 0, bytes.baseAddress?.assumingMemoryBound(to: Int32.self))
    }
    guard result == 0 else { throw .systemCall("socketpair", code: errno) }
    descriptor = pair.0
    ends = Mutex(Ends(reading: pair.0, writing: pair.1))
  }

  deinit { close() }

  /// Releases `count` waiters, now or later.
  func release(_ count: Int = 1) {
    ends.withLock { ends in
      guard let ends, !ends.isOpened else { return }
      for _ in 0..<count {
        var byte: UInt8 = 1
        send(ends.writing, &byte, 1, Int32(MSG_NOSIGNAL))
      }
    }
  }

  /// Releases all waiters, now and later.
  func open() {
    ends.withLock { ends in
      guard let current = ends else { return }
      ends?.isOpened = true
      shutdown(current.writing, Int32(SHUT_WR))
    }
  }

  /// Takes one release; false if there is none.
  func take() -> Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) >= 0
  }

  /// Takes all releases that are there.
  func drain() {
    var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while withUnsafeMutableBytes(
      of: &bytes, { recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) })
      == 32
    {}
  }

  /// Gives the descriptors back. Nobody may wait any more.
  func close() {
    ends.withLock { ends in
      guard let current = ends else { return }
      ends = nil
      Glibc.close(current.reading)
      Glibc.close(current.writing)
    }
  }
}
