import StreamCore

/// The certificate chains of the open connections: libcurl tells a chain only to the transfer that opened the
/// connection. Bounded; the oldest are forgotten first.
struct CertificateMemory {
  static let kept = 1024

  private var chains: [String: [PeerCertificate]] = [:]
  private var order: [String] = []

  /// Both ends of a connection name it as long as it is open.
  private static func key(_ connection: ExchangeFacts.Connection) -> String {
    connection.local + " " + connection.remote
  }

  mutating func remember(_ chain: [PeerCertificate], for connection: ExchangeFacts.Connection) {
    let key = Self.key(connection)
    if chains.updateValue(chain, forKey: key) != nil { return }
    order.append(key)
    guard order.count > Self.kept else { return }
    for old in order.prefix(Self.kept / 4) { chains[old] = nil }
    order.removeFirst(Self.kept / 4)
  }

  func chain(of connection: ExchangeFacts.Connection) -> [PeerCertificate] {
    chains[Self.key(connection)] ?? []
  }
}
