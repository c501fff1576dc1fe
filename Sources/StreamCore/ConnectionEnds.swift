/// Both addresses of a connection, shared by all that was told on it.
package final class ConnectionEnds: Sendable {
  package let remote: String
  package let local: String

  package init(remote: String, local: String) {
    self.remote = remote
    self.local = local
  }
}
