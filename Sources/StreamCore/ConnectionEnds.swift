/// Both addresses of a connection, shared by all that was told on it.
package final class ConnectionEnds: Sendable {
  package let remote: String
  package let local: String
  /// The server's chain, where it is kept.
  package let certificates: [PeerCertificate]

  package init(remote: String, local: String, certificates: [PeerCertificate] = []) {
    self.remote = remote
    self.local = local
    self.certificates = certificates
  }
}
