import Penstock

/// Proxies and TLS.
extension OptionTable {
  static let proxies: [Option] = [
    .value(
      "x", "proxy", "URL", .connection, "Go through this proxy: http, https, socks4, socks4a, socks5, socks5h"
    ) {
      settings, text throws(UsageError) in
      settings.network.proxy = try ProxyValue.parse(text)
    },
    .value(
      nil, "noproxy", "LIST", .connection, "Hosts, domains and address ranges to reach without the proxy"
    ) {
      settings, text throws(UsageError) in
      settings.network.noProxy = HostListValue.parse(text)
    },
    .value(nil, "proxy-user", "USER:PASSWORD", .connection, "Credentials for the proxy") {
      settings, text throws(UsageError) in
      settings.network.proxyUser = try CredentialsValue.parse(text)
    },
  ]

  static let tls: [Option] = [
    .value(nil, "capath", "DIR", .security, "Trust the certificates in this directory as well") {
      settings, text throws(UsageError) in
      settings.network.authorityDirectory = try PathValue.parse(text)
    },
    .value("E", "cert", "FILE[:PASSWORD]", .security, "Client certificate, PEM or PKCS#12") {
      settings, text throws(UsageError) in
      let (file, password) = try CertificateValue.parse(text)
      settings.network.certificate = file
      settings.network.certificatePassword = password
    },
    .value(nil, "key", "FILE", .security, "Key of the client certificate (default: in its file)") {
      settings, text throws(UsageError) in
      settings.network.key = try PathValue.parse(text)
    },
    .value(
      nil, "pinnedpubkey", "HASHES|FILE", .security, "Accept these server keys alone: sha256//BASE64;..."
    ) {
      settings, text throws(UsageError) in
      settings.network.pinnedKeys = try PinnedKeyValue.parse(text)
    },
    .flag(nil, "tlsv1.2", .security, "TLS 1.2 or later") { $0.network.minimumTLS = .v1_2 },
    .flag(nil, "tlsv1.3", .security, "TLS 1.3 or later") { $0.network.minimumTLS = .v1_3 },
  ]
}
