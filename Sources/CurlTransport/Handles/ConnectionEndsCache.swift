import Glibc
import StreamCore

/// The addresses of the connections in use, put into words once for each. Used on the loop thread alone.
struct ConnectionEndsCache {
  private final class Entry {
    // As C strings, so that a comparison makes none.
    let remoteIP: [CChar]
    let localIP: [CChar]
    let remotePort: Int32
    let ends: ConnectionEnds

    init(remoteIP: [CChar], localIP: [CChar], remotePort: Int32, ends: ConnectionEnds) {
      self.remoteIP = remoteIP
      self.localIP = localIP
      self.remotePort = remotePort
      self.ends = ends
    }
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
    entries[localPort] = Entry(
      remoteIP: Array(remote.utf8CString), localIP: Array(local.utf8CString), remotePort: remotePort,
      ends: ends)
    return ends
  }

  private static func text(_ ip: String, _ port: Int32) -> String {
    ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]:\(port)" : "\(ip):\(port)"
  }
}
