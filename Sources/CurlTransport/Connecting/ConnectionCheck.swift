import StreamCore

/// What makes addresses, proxy and stream options unfit, found before any byte is sent.
enum ConnectionCheck {
  static func check(
    _ options: TransportOptions, _ refuse: (HTTPError.Kind, String, String?) -> HTTPError
  ) throws(HTTPError) {
    let addressing = options.addressing
    func bad(_ message: String, _ advice: String? = nil) -> HTTPError {
      refuse(.invalidConfiguration, message, advice)
    }
    if let entry = addressing.unreadableOverride {
      throw bad("the address \"\(entry)\" can't be read", "Write it as HOST:PORT:ADDRESS")
    }
    if let path = addressing.unixSocket, path.utf8.count > 107 || path.isEmpty {
      throw bad("the path of the Unix socket has \(path.utf8.count) bytes", "It must have 1 to 107")
    }
    if let path = addressing.unixSocket, path.utf8.contains(0) {
      throw bad("the path of the Unix socket holds a NUL")
    }
    if let name = addressing.interface, name.isEmpty || hasBlank(name) {
      throw bad("addressing.interface \"\(name)\" is no interface or address")
    }
    if addressing.unixSocket != nil, addressing.interface != nil || addressing.localPorts != nil {
      let name = addressing.interface != nil ? "interface" : "localPorts"
      throw bad("addressing.unixSocket and addressing.\(name) can't both be set", "A Unix socket has neither")
    }
    if let name = addressing.interface, let entry = contradiction(addressing, interface: name) {
      throw bad("addressing.interface \"\(name)\" isn't of the family of \(entry)")
    }
    if let ports = addressing.localPorts, ports.lowerBound == 0 {
      throw bad("addressing.localPorts begins with 0", "Ports are 1 to 65535")
    }
    if addressing.cacheTime < .zero { throw bad("addressing.cacheTime is negative") }
    if let delay = addressing.happyEyeballsDelay, delay < .zero {
      throw bad("addressing.happyEyeballsDelay is negative")
    }
    if let url = addressing.dnsOverHTTPS, (try? CurlURL(url))?.isSecure != true {
      throw bad("addressing.dnsOverHTTPS is no https URL", "Write it as https://HOST/dns-query")
    }
    if let weight = options.streamWeight, !(1...256).contains(weight) {
      throw bad("streamWeight is \(weight)", "It must be 1 to 256")
    }
    if options.version == .http2 {
      if !options.tls.offersALPN {
        throw bad("HTTP/2 alone is wanted, and tls.offersALPN is false", "HTTP/2 is agreed on by ALPN")
      }
      if let newest = options.tls.maximumVersion, newest < .v1_2 {
        throw bad("HTTP/2 alone is wanted, and tls.maximumVersion is \(newest.rawValue)", "It needs TLS 1.2")
      }
    }
    if let proxy = options.proxy { try check(proxy, bad) }
  }

  /// What an interface that is an address can't be used with.
  private static func contradiction(_ addressing: Addressing, interface: String) -> String? {
    guard CurlURL.isAddress(interface) else { return nil }
    let isSix = interface.contains(":")
    switch addressing.family {
    case .any: return nil
    case .v4: return isSix ? "addressing.family v4" : nil
    case .v6: return isSix ? nil : "addressing.family v6"
    }
  }

  private static func check(
    _ proxy: ProxyServer, _ bad: (String, String?) -> HTTPError
  ) throws(HTTPError) {
    if proxy.host.isEmpty || hasBlank(proxy.host) || proxy.port == 0 {
      throw bad("the proxy has no host or no port", nil)
    }
    if (proxy.user ?? "").utf8.contains(0) || (proxy.password ?? "").utf8.contains(0) {
      throw bad("the proxy's credentials hold a NUL", nil)
    }
    if proxy.kind.isHTTP, proxy.user?.contains(":") == true {
      throw bad("the proxy's user name holds a colon", "RFC 7617 §2 leaves no way to send it")
    }
    if let field = proxy.headers.firstInvalidField {
      throw bad("the proxy's field \"\(field.name)\" \(field.why)", nil)
    }
  }

  private static func hasBlank(_ text: String) -> Bool {
    text.utf8.contains { $0 <= 0x20 || $0 == 0x7F }
  }
}
