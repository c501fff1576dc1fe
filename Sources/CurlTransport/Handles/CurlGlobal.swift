import CCurl

/// libcurl's process-wide set-up and what it was built with.
package enum CurlGlobal {
  /// Runs `curl_global_init` once; true when libcurl can be used.
  static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  /// Versions of libcurl, TLS, zlib and HTTP in use, for people.
  package static let versions: [String] = {
    guard let info = unsafe cshims_version_info()?.pointee else { return [] }
    var parts: [String] = []
    if let version = unsafe info.version { parts.append("libcurl/" + (unsafe String(cString: version))) }
    if let tls = unsafe info.ssl_version { parts.append(unsafe String(cString: tls)) }
    if let zlib = unsafe info.libz_version { parts.append("zlib/" + (unsafe String(cString: zlib))) }
    if let http2 = unsafe info.nghttp2_version { parts.append("nghttp2/" + (unsafe String(cString: http2))) }
    return parts
  }()

  /// Whether a removed HTTP/2 stream is told to the peer only with the next thing that is sent.
  static let keepsResetsBack: Bool = {
    guard let info = unsafe cshims_version_info()?.pointee else { return false }
    return unsafe info.version_num < 0x08_01_00
  }()

  /// Whether this libcurl speaks HTTP/2.
  package static let hasHTTP2: Bool = {
    guard let info = unsafe cshims_version_info()?.pointee else { return false }
    return unsafe info.features & Int32(CURL_VERSION_HTTP2) != 0
  }()
}
