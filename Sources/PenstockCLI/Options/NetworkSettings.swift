import Penstock

/// What the command line says of TLS and proxies.
struct NetworkSettings: Sendable, Equatable {
  /// `-x`.
  enum ProxyChoice: Sendable, Equatable {
    /// `-x ''`: none, whatever the environment says.
    case direct
    case through(ProxyServer)
  }

  struct Credentials: Sendable, Equatable {
    var user: String
    var password: String
  }

  var proxy: ProxyChoice?
  var proxyUser: Credentials?
  /// `--noproxy`, in place of `no_proxy`.
  var noProxy: [String]?

  /// `--capath`.
  var authorityDirectory: String?
  /// `--cert`.
  var certificate: String?
  var certificatePassword: String?
  /// `--key`.
  var key: String?
  var pinnedKeys: [String] = []
  var minimumTLS: TLSVersion?
}
