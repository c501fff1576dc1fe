import Glibc
import PollLoop
import StreamCore

/// A connection that a request was sent on.
final class KnownConnection {
  /// Its addresses, put into words once.
  let ends: ConnectionEnds
  // As C strings, so that a comparison makes none.
  private let remoteIP: [CChar]
  private let localIP: [CChar]
  private let remotePort: Int32
  /// Nil when it isn't known.
  fileprivate(set) var socket: OpenSocket?
  /// Others have the same ends, as those to one Unix socket do.
  fileprivate var isAmbiguous = false
  /// It has answered in HTTP/1: its peer has nothing to say before it is asked again.
  var speaksWhenAsked = false
  /// The next one with the same port of ours.
  fileprivate var next: KnownConnection?

  fileprivate init(
    remoteIP: UnsafePointer<CChar>, _ remotePort: Int32, localIP: UnsafePointer<CChar>, _ localPort: Int32
  ) {
    let remote = unsafe String(cString: remoteIP)
    let local = unsafe String(cString: localIP)
    self.remoteIP = Array(remote.utf8CString)
    self.localIP = Array(local.utf8CString)
    self.remotePort = remotePort
    ends = ConnectionEnds(
      remote: Self.text(remote, remotePort), local: local.isEmpty ? "" : Self.text(local, localPort))
  }

  /// Whether what comes next on it is the answer to what is asked next.
  func isFit(_ poller: Poller) -> Bool {
    guard speaksWhenAsked, let socket else { return true }
    return poller.isSilent(socket)
  }

  fileprivate func isBetween(
    _ remoteIP: UnsafePointer<CChar>, _ remotePort: Int32, and localIP: UnsafePointer<CChar>
  ) -> Bool {
    unsafe self.remotePort == remotePort && strcmp(remoteIP, self.remoteIP) == 0
      && strcmp(localIP, self.localIP) == 0
  }

  private static func text(_ ip: String, _ port: Int32) -> String {
    ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]:\(port)" : "\(ip):\(port)"
  }
}

/// The connections in use, found by what libcurl says of one before each request. Used on the loop thread alone.
struct KnownConnections {
  /// By our port, which few connections share.
  private var byPort: [Int32: KnownConnection] = [:]
  private var limit = 1024

  /// The connection with these ends; `opened` are the sockets that were opened for it, none if it was kept.
  mutating func find(
    remote remoteIP: UnsafePointer<CChar>?, _ remotePort: Int32, local localIP: UnsafePointer<CChar>?,
    _ localPort: Int32, opened: [OpenSocket], _ poller: Poller
  ) -> KnownConnection? {
    guard let remoteIP = unsafe remoteIP, unsafe remoteIP.pointee != 0, let localIP = unsafe localIP else {
      return nil
    }
    let first = byPort[localPort]
    var known = first
    while let candidate = known, unsafe !candidate.isBetween(remoteIP, remotePort, and: localIP) {
      known = candidate.next
    }
    if let known, opened.isEmpty { return known }
    let connection =
      unsafe known ?? KnownConnection(remoteIP: remoteIP, remotePort, localIP: localIP, localPort)
    if known == nil { add(connection, localPort, poller) }
    if let socket = connection.socket, poller.isOpen(socket) { connection.isAmbiguous = true }
    connection.socket =
      connection.isAmbiguous ? nil : Self.socket(among: opened, localPort: localPort, poller)
    connection.speaksWhenAsked = false
    return connection
  }

  /// Of several attempts to connect the one that came through.
  private static func socket(among opened: [OpenSocket], localPort: Int32, _ poller: Poller) -> OpenSocket? {
    let open = opened.filter { poller.isOpen($0) }
    return open.count > 1 ? open.first { $0.localPort == localPort } : open.first
  }

  private mutating func add(_ connection: KnownConnection, _ localPort: Int32, _ poller: Poller) {
    if byPort.count >= limit {
      byPort = byPort.compactMapValues { Self.living($0, poller) }
      limit = max(1024, byPort.count * 2)
    }
    connection.next = byPort[localPort].flatMap { Self.living($0, poller) }
    byPort[localPort] = connection
  }

  /// The chain without those that are closed.
  private static func living(_ chain: KnownConnection, _ poller: Poller) -> KnownConnection? {
    var rest: KnownConnection?
    var next: KnownConnection? = chain
    while let connection = next {
      next = connection.next
      guard connection.isAmbiguous || connection.socket.map({ poller.isOpen($0) }) == true else { continue }
      connection.next = rest
      rest = connection
    }
    return rest
  }
}
