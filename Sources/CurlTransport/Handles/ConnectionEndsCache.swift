import Glibc
import StreamCore

/// The addresses of the connections in use, put into words once for each. Used on the loop thread alone.
struct ConnectionEndsCache {
  private struct Entry {
    let remoteIP: String
    let localIP: String
    let remotePort: Int32
    let ends: ConnectionEnds
  }

  /// By our port, which few connections share.
  private var entries: [Int32: Entry] = [:]
  private static let kept = 1024

  mutating func ends(
    remote remoteIP: UnsafePointer<CChar>?, _ remotePort: Int32, local localIP: UnsafePointer<CChar>?,
    _ localPort: Int32
  ) -> ConnectionEnds? {
    guard let remoteIP = unsafe remoteIP, unsafe remoteIP.pointee != 0, let localIP = unsafe localIP else {
      return nil
    }
    if let known = entries[localPort], known.remotePort == remotePort,
      unsafe strcmp(remoteIP, known.remoteIP) == 0, unsafe strcmp(localIP, known.localIP) == 0
    {
      return known.ends
    }
    let remote = unsafe String(cString: remoteIP)
    let local = unsafe String(cString: localIP)
    let ends = ConnectionEnds(
      remote: Self.text(remote, remotePort), local: local.isEmpty ? "" : Self.text(local, localPort))
    if entries.count >= Self.kept { entries.removeAll(keepingCapacity: true) }
    entries[localPort] = Entry(remoteIP: remote, localIP: local, remotePort: remotePort, ends: ends)
    return ends
  }

  private static func text(_ ip: String, _ port: Int32) -> String {
    ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]:\(port)" : "\(ip):\(port)"
  }
}
