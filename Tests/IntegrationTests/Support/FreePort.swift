import Foundation

/// Ports for servers that can't pick one by themselves.
enum FreePort {
  /// A port that was free a moment ago.
  static func find() throws -> UInt16 { try RefusingPort().port }

  /// Whether somebody accepts connections there.
  static func answers(_ port: UInt16) -> Bool {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard probe >= 0 else { return false }
    defer { close(probe) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// Waits until a server that was just started accepts connections.
  static func waitUntilAnswered(_ ports: [UInt16]) async throws {
    for port in ports {
      var tries = 0
      while !answers(port) {
        tries += 1
        if tries > 1000 { throw Tool.Failed(what: "nobody listens on \(port)") }
        // A foreign program: nothing tells when it listens.
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }
}
