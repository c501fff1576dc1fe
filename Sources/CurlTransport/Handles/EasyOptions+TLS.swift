import CCurl
import StreamCore

extension EasyHandle {
  func setTLSOptions() {
    let tls = profile.tls
    // Without a CAPATH libcurl caches the roots: a new connection costs 2 ms instead of 23.
    unsafe cshims_set_ca_path(raw, nil)
    unsafe set(profile.roots.path) { unsafe cshims_set_ca_info($0, $1) }
    unsafe cshims_set_ssl_verify_peer(raw, tls.verifiesTrust ? 1 : 0)
    unsafe cshims_set_ssl_verify_host(raw, tls.verifiesName ? 2 : 0)
    if tls.isStandard { return }
    unsafe cshims_set_ssl_version(raw, Self.versions(tls))
    unsafe set(Self.list(tls.ciphers)) { unsafe cshims_set_ssl_cipher_list($0, $1) }
    unsafe set(Self.list(tls.tls13Ciphers)) { unsafe cshims_set_tls13_ciphers($0, $1) }
    unsafe cshims_set_ssl_enable_alpn(raw, tls.offersALPN ? 1 : 0)
    unsafe set(Self.pins(tls)) { unsafe cshims_set_pinned_public_key($0, $1) }
    unsafe set(tls.revocationList) { unsafe cshims_set_crl_file($0, $1) }
    unsafe cshims_set_ssl_verify_status(raw, tls.requiresStapledStatus ? 1 : 0)
    unsafe cshims_set_cert_info(raw, tls.keepsCertificates ? 1 : 0)
    guard let identity = tls.identity else { return }
    unsafe set(identity.password) { unsafe cshims_set_key_password($0, $1) }
    switch identity.content {
    case .files(let certificate, let key):
      unsafe set(certificate) { unsafe cshims_set_ssl_cert($0, $1) }
      unsafe set(key) { unsafe cshims_set_ssl_key($0, $1) }
    case .pem(let certificate, let key):
      unsafe set(certificate) { unsafe cshims_set_ssl_cert_blob($0, $1) }
      unsafe set(key) { unsafe cshims_set_ssl_key_blob($0, $1) }
    case .pkcs12File(let path):
      unsafe set("P12") { unsafe cshims_set_ssl_cert_type($0, $1) }
      unsafe set(path) { unsafe cshims_set_ssl_cert($0, $1) }
    case .pkcs12(let bytes):
      unsafe set("P12") { unsafe cshims_set_ssl_cert_type($0, $1) }
      unsafe set(bytes) { unsafe cshims_set_ssl_cert_blob($0, $1) }
    }
  }

  /// The same for TLS that is spoken to the proxy itself.
  func setProxyTLSOptions(_ tls: TLSOptions) {
    unsafe cshims_set_proxy_ca_path(raw, nil)
    unsafe set(profile.proxyRoots?.path) { unsafe cshims_set_proxy_ca_info($0, $1) }
    unsafe cshims_set_proxy_ssl_verify_peer(raw, tls.verifiesTrust ? 1 : 0)
    unsafe cshims_set_proxy_ssl_verify_host(raw, tls.verifiesName ? 2 : 0)
    if tls.isStandard { return }
    unsafe cshims_set_proxy_ssl_version(raw, Self.versions(tls))
    unsafe set(Self.list(tls.ciphers)) { unsafe cshims_set_proxy_ssl_cipher_list($0, $1) }
    unsafe set(Self.list(tls.tls13Ciphers)) { unsafe cshims_set_proxy_tls13_ciphers($0, $1) }
    unsafe set(Self.pins(tls)) { unsafe cshims_set_proxy_pinned_public_key($0, $1) }
    unsafe set(tls.revocationList) { unsafe cshims_set_proxy_crl_file($0, $1) }
    guard let identity = tls.identity else { return }
    unsafe set(identity.password) { unsafe cshims_set_proxy_key_password($0, $1) }
    switch identity.content {
    case .files(let certificate, let key):
      unsafe set(certificate) { unsafe cshims_set_proxy_ssl_cert($0, $1) }
      unsafe set(key) { unsafe cshims_set_proxy_ssl_key($0, $1) }
    case .pem(let certificate, let key):
      unsafe set(certificate) { unsafe cshims_set_proxy_ssl_cert_blob($0, $1) }
      unsafe set(key) { unsafe cshims_set_proxy_ssl_key_blob($0, $1) }
    case .pkcs12File(let path):
      unsafe set("P12") { unsafe cshims_set_proxy_ssl_cert_type($0, $1) }
      unsafe set(path) { unsafe cshims_set_proxy_ssl_cert($0, $1) }
    case .pkcs12(let bytes):
      unsafe set("P12") { unsafe cshims_set_proxy_ssl_cert_type($0, $1) }
      unsafe set(bytes) { unsafe cshims_set_proxy_ssl_cert_blob($0, $1) }
    }
  }

  /// The chain that the server showed when this handle's transfer opened its connection.
  var peerCertificates: [PeerCertificate] {
    var info: UnsafeMutablePointer<curl_certinfo>?
    guard unsafe cshims_get_cert_info(raw, &info) == CURLE_OK, let info = unsafe info?.pointee,
      let lists = unsafe info.certinfo
    else { return [] }
    return (0..<Int(unsafe info.num_of_certs)).map { index in
      var lines: [String] = []
      var entry = unsafe lists[index]
      while let line = unsafe entry {
        if let text = unsafe line.pointee.data { lines.append(unsafe String(cString: text)) }
        unsafe entry = line.pointee.next
      }
      return PeerCertificate(lines: lines)
    }
  }

  // MARK: values as libcurl takes them

  private static func list(_ names: [String]) -> String? {
    names.isEmpty ? nil : names.joined(separator: ":")
  }

  private static func pins(_ tls: TLSOptions) -> String? {
    tls.pinnedKeys.isEmpty ? nil : tls.pinnedKeys.joined(separator: ";")
  }

  private static func versions(_ tls: TLSOptions) -> Int {
    let minimum =
      switch tls.minimumVersion {
      case nil: CURL_SSLVERSION_DEFAULT
      case .v1_0: CURL_SSLVERSION_TLSv1_0
      case .v1_1: CURL_SSLVERSION_TLSv1_1
      case .v1_2: CURL_SSLVERSION_TLSv1_2
      case .v1_3: CURL_SSLVERSION_TLSv1_3
      }
    let maximum =
      switch tls.maximumVersion {
      case nil: CURL_SSLVERSION_MAX_NONE
      case .v1_0: CURL_SSLVERSION_MAX_TLSv1_0
      case .v1_1: CURL_SSLVERSION_MAX_TLSv1_1
      case .v1_2: CURL_SSLVERSION_MAX_TLSv1_2
      case .v1_3: CURL_SSLVERSION_MAX_TLSv1_3
      }
    return Int(minimum) | Int(maximum)
  }

  /// A string option; nil leaves it as a new handle has it.
  func set(
    _ text: String?, _ apply: (UnsafeMutableRawPointer, UnsafePointer<CChar>) -> CURLcode
  ) {
    guard let text else { return }
    note(unsafe text.withCString { unsafe apply(raw, $0) })
  }

  /// A blob option; libcurl makes a copy.
  func set(
    _ bytes: [UInt8], _ apply: (UnsafeMutableRawPointer, UnsafeMutablePointer<curl_blob>) -> CURLcode
  ) {
    var bytes = bytes
    let code = unsafe bytes.withUnsafeMutableBytes { buffer in
      var blob = unsafe curl_blob(data: buffer.baseAddress, len: buffer.count, flags: UInt32(CURL_BLOB_COPY))
      return unsafe apply(raw, &blob)
    }
    note(code)
  }
}
