import CCurl
import StreamCore

extension EasyHandle {
  func setAddressOptions() {
    let addressing = profile.addressing
    switch addressing.family {
    case .any: unsafe cshims_set_ip_resolve(raw, Int(CURL_IPRESOLVE_WHATEVER))
    case .v4: unsafe cshims_set_ip_resolve(raw, Int(CURL_IPRESOLVE_V4))
    case .v6: unsafe cshims_set_ip_resolve(raw, Int(CURL_IPRESOLVE_V6))
    }
    unsafe set(addressing.interface) { unsafe cshims_set_interface($0, $1) }
    unsafe set(addressing.unixSocket) { unsafe cshims_set_unix_socket_path($0, $1) }
    unsafe set(addressing.dnsOverHTTPS) { unsafe cshims_set_doh_url($0, $1) }
    unsafe cshims_set_dns_cache_timeout(raw, ConnectionAge.seconds(addressing.cacheTime) ?? 60)
    if let delay = addressing.happyEyeballsDelay {
      unsafe cshims_set_happy_eyeballs_timeout_ms(
        raw, Int(clamping: TimeLimits.Nanoseconds.of(delay) / 1_000_000))
    }
    if let ports = addressing.localPorts {
      unsafe cshims_set_local_port(raw, Int(ports.lowerBound))
      unsafe cshims_set_local_port_range(raw, ports.count)
    }
  }

  /// How long kept connections stay; nil is for ever, which libcurl has no word for.
  func setAgeOptions() {
    unsafe cshims_set_max_age_conn(raw, ConnectionAge.seconds(profile.age.idle) ?? 1_000_000_000)
    unsafe cshims_set_max_lifetime_conn(raw, ConnectionAge.seconds(profile.age.lifetime) ?? 0)
  }

  func setProxyOptions() {
    // Set in every case: else libcurl would read the environment, on each transfer and behind our back.
    unsafe set("") { unsafe cshims_set_no_proxy($0, $1) }
    guard let proxy = profile.proxy else { return unsafe set("") { unsafe cshims_set_proxy($0, $1) } }
    unsafe set(proxy.url) { unsafe cshims_set_proxy($0, $1) }
    unsafe cshims_set_http_proxy_tunnel(raw, proxy.tunnelsAlways ? 1 : 0)
    if proxy.user != nil || proxy.password != nil {
      // libcurl takes both for parts of a URL.
      unsafe set(Self.escaped(proxy.user ?? "")) { unsafe cshims_set_proxy_user_name($0, $1) }
      unsafe set(Self.escaped(proxy.password ?? "")) { unsafe cshims_set_proxy_password($0, $1) }
    }
    switch proxy.authentication {
    case .basic: unsafe cshims_set_proxy_auth(raw, Int(CURLAUTH_BASIC_BITS))
    case .digest: unsafe cshims_set_proxy_auth(raw, Int(CURLAUTH_DIGEST_BITS))
    case .any: unsafe cshims_set_proxy_auth(raw, Int(CURLAUTH_BASIC_BITS | CURLAUTH_DIGEST_BITS))
    }
    if !proxy.headers.isEmpty {
      proxyHeaders = HeaderList.proxy(proxy.headers)
      if let list = proxyHeaders { unsafe cshims_set_proxy_header(raw, list.list) }
    }
    if proxy.kind == .https { setProxyTLSOptions(proxy.tls) }
  }
}

extension EasyHandle {
  /// Percent-encoded but for letters and digits (RFC 3986 §2.1).
  private static func escaped(_ text: String) -> String {
    PercentEncoding.encode(text.utf8) {
      DecimalDigits.isDigit($0) || FieldSyntax.lower($0) &- UInt8(ascii: "a") < 26
    }
  }
}

/// CURLAUTH_BASIC and CURLAUTH_DIGEST are macros with a cast, which Swift can't see.
private let CURLAUTH_BASIC_BITS = 1
private let CURLAUTH_DIGEST_BITS = 2
