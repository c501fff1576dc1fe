internal import Glibc

/// Where a test server listens. Ports are always ephemeral: the kernel picks a free one.
public enum ServerAddress: Sendable, Hashable {
  /// 127.0.0.1.
  case loopback
  /// ::1.
  case loopbackIPv6
  /// A Unix domain socket at this path, of at most 107 bytes; a socket that is already there is replaced.
  case unixSocket(path: String)

  var family: Int32 {
    switch self {
    case .loopback: AF_INET
    case .loopbackIPv6: AF_INET6
    case .unixSocket: AF_UNIX
    }
  }

  /// The part of a URL in front of the path.
  func origin(port: UInt16) -> String {
    switch self {
    case .loopback: "http://127.0.0.1:\(port)"
    case .loopbackIPv6: "http://[::1]:\(port)"
    case .unixSocket: "http://localhost"
    }
  }

  /// Binds a socket to this address, with any free port.
  func bind(_ descriptor: Int32) throws(TestServerError) {
    let result: Int32
    switch self {
    case .loopback:
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      result = Self.bind(descriptor, &address)
    case .loopbackIPv6:
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_addr = in6addr_loopback
      result = Self.bind(descriptor, &address)
    case .unixSocket(let path):
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let fits = withUnsafeMutableBytes(of: &address.sun_path) { field in
        guard path.utf8.count < field.count, !path.utf8.contains(0), !path.isEmpty else { return false }
        field.copyBytes(from: path.utf8)
        return true
      }
      guard fits else { throw .invalidArgument("unixSocket path") }
      Self.removeSocket(at: path)
      result = Self.bind(descriptor, &address)
    }
    guard result == 0 else { throw .systemCall("bind", code: errno) }
  }

  /// Removes the socket file of a Unix address.
  func cleanUp() {
    if case .unixSocket(let path) = self { Self.removeSocket(at: path) }
  }

  /// The port that a bound socket got; 0 for a Unix socket.
  func port(of descriptor: Int32) throws(TestServerError) -> UInt16 {
    if case .unixSocket = self { return 0 }
    // The port stands at the same place in both families.
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard result == 0 else { throw .systemCall("getsockname", code: errno) }
    return UInt16(bigEndian: address.sin6_port)
  }

  private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
    let size = socklen_t(MemoryLayout<Address>.size)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, size) }
    }
  }

  /// Only ever removes sockets, never a file that someone else keeps there.
  private static func removeSocket(at path: String) {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
  }
}
