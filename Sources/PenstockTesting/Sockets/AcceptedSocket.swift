internal import Glibc
internal import StreamCore
internal import Synchronization

/// One accepted connection. The descriptor is used by the connection's own thread, which alone may close it;
/// `shutDown` may come from any thread.
final class AcceptedSocket: Sendable {
  let index: Int
  let descriptor: Int32
  private let open = Mutex(true)

  init(index: Int, descriptor: Int32) {
    self.index = index
    self.descriptor = descriptor
  }

  deinit { close() }

  var isOpen: Bool { open.withLock { $0 } }

  func shutDown(_ direction: Int) {
    open.withLock { isOpen in
      if isOpen { shutdown(descriptor, Int32(direction)) }
    }
  }

  func close() {
    open.withLock { isOpen in
      guard isOpen else { return }
      isOpen = false
      Glibc.close(descriptor)
    }
  }

  /// Closes with a reset (RST): what is still unsent is thrown away.
  func reset() {
    open.withLock { isOpen in
      guard isOpen else { return }
      isOpen = false
      var option = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
      Glibc.close(descriptor)
    }
  }

  /// Ends the sending side, lets a peer that is still sending finish for at most a second (a plain close would
  /// answer unread bytes with a reset, which destroys what the peer has not read yet), then closes.
  func closeGracefully(unless stop: WakeSignal) {
    guard isOpen else { return }
    shutDown(SHUT_WR)
    let deadline = ContinuousClock.now + .seconds(1)
    var scratch: [UInt8] = []
    var byte: UInt8 = 0
    // Only linger when something unread lies there.
    if recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0 {
      scratch = [UInt8](repeating: 0, count: 64 << 10)
    }
    while !scratch.isEmpty {
      let count = recv(descriptor, &scratch, scratch.count, Int32(MSG_DONTWAIT))
      if count > 0, ContinuousClock.now < deadline { continue }
      guard count < 0, errno == EAGAIN || errno == EINTR else { break }
      let outcome = PollSet(descriptor, events: PollSet.readable, stop: stop).wait(until: deadline)
      guard case .ready = outcome else { break }
    }
    close()
  }
}
