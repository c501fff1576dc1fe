import Foundation

/// A port on 127.0.0.1 where nobody listens and that nobody else gets meanwhile: it is bound. Connections are refused.
final class RefusingPort: Sendable {
  let port: UInt16
  private let descriptor: Int32

  var url: String { "http://127.0.0.1:\(port)/" }

  /// This one, or one that is free.
  init(_ wanted: UInt16 = 0) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Tool.Failed(what: "no socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = wanted.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard isBound else { throw Tool.Failed(what: "no port") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
