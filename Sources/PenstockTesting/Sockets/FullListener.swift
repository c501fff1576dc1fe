internal import Glibc

/// A listener on loopback whose queue is full, so that the kernel leaves further connections unanswered: for tests of
/// connecting that takes too long or is given up.
///
/// ```swift
/// let listener = try FullListener()
/// // A request to `listener.url` ends with `connectTimeout`, and not before.
/// ```
public final class FullListener: Sendable {
  /// Where it listens.
  public let port: UInt16
  private let descriptors: [Int32]

  /// Its URL, on 127.0.0.1.
  public var url: String { "http://127.0.0.1:\(port)/" }

  /// On 127.0.0.1, at this port or one that is free. Throws `TestServerError.systemCall` where that can't be.
  public convenience init(port: UInt16 = 0) throws(TestServerError) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    try self.init(AF_INET, withUnsafeBytes(of: address) { Array($0) })
  }

  /// On ::1, at this port or one that is free. Throws `TestServerError.systemCall` where that can't be.
  public convenience init(ipv6Port port: UInt16) throws(TestServerError) {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    address.sin6_addr = in6addr_loopback
    try self.init(AF_INET6, withUnsafeBytes(of: address) { Array($0) })
  }

  private init(_ family: Int32, _ bytes: [UInt8]) throws(TestServerError) {
    let listener = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = bytes
    var length = socklen_t(bytes.count)
    func with(_ call: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Bool {
      address.withUnsafeMutableBytes { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) { $0.baseAddress.map { call($0) == 0 } ?? false }
      }
    }
    var descriptors = [listener]
    guard with({ bind(listener, $0, length) }), listen(listener, 0) == 0,
      with({ getsockname(listener, $0, &length) })
    else {
      let code = errno
      close(listener)
      throw .systemCall("listen", code: code)
    }
    // Both families have their port in the third and fourth byte.
    port = UInt16(address[2]) << 8 | UInt16(address[3])
    for _ in 0..<4 {
      let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
      let filler = socket(family, Int32(kind), 0)
      _ = with { connect(filler, $0, length) }
      descriptors.append(filler)
    }
    self.descriptors = descriptors
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
