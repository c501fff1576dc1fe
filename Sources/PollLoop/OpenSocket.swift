import Glibc

/// A socket from its opening to its end; one that gets the same number later is another.
@safe package struct OpenSocket: Equatable, Sendable {
  package let fd: Int32
  let opening: UInt32

  /// Its own port, 0 when it has none or isn't open.
  package var localPort: Int32 {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &address) { pointer in
      let result = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(fd, $0, &length)
      }
      guard result == 0 else { return 0 }
      // The port stands at the same place in the addresses of both families.
      guard unsafe [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(pointer.pointee.ss_family) else {
        return 0
      }
      return unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe Int32(UInt16(bigEndian: $0.pointee.sin_port))
      }
    }
  }
}

/// Sockets that were opened through us, and are closed through us.
extension Poller {
  /// Nothing can be read from the socket, not even its end. True also of one that isn't open any more.
  package func isSilent(_ socket: OpenSocket) -> Bool {
    guard isOpen(socket) else { return true }
    var byte: UInt8 = 0
    let count = unsafe recv(socket.fd, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count < 0 && (errno == EAGAIN || errno == EINTR)
  }
}
