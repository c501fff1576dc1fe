import StreamCore

/// What its request, its profile and its answer say of the connection that a transfer is on.
extension Transfer {
  /// Whether body bytes may wait in the kernel on a connection that nobody shares.
  var mayHoldUnsent: Bool {
    guard upload != nil, !url.isSecure || request.sharedOptions.value.version == .http1_1 else {
      return false
    }
    return machine.phase == .sending || machine.phase == .awaitingHead
  }

  /// Whether it is a stream on a connection of HTTP/2, or may be.
  var mayShareConnection: Bool {
    guard url.isSecure, request.sharedOptions.value.version != .http1_1, version == nil || version == .http2
    else {
      return false
    }
    return machine.sends > 0
  }

  /// Whether its connection is one of HTTP/2, as far as can be told before the head.
  var isOnHTTP2: Bool { version == .http2 || turn.http2Origins.contains(url.origin) }

  /// Whether both are on one connection.
  func sharesConnection(with other: Transfer) -> Bool {
    localPort == other.localPort && other.mayShareConnection && url.origin == other.url.origin
  }

  /// Whether a 407 is a question of the proxy to libcurl: in the tunnel it would be the server's.
  var answersProxyChallenge: Bool {
    guard let proxy = profile.proxy, proxy.user != nil, proxy.authentication != .basic else { return false }
    return !proxy.tunnels(isSecure: url.isSecure)
  }

  /// The name that a look-up may be needed for: none for addresses and Unix sockets.
  var nameToLookUp: String? {
    guard profile.addressing.unixSocket == nil else { return nil }
    if let proxy = profile.proxy { return name(proxy.host, proxy.port) }
    if let override { return name(override.address, override.port) }
    return url.authority.isAddress ? nil : name(url.host, url.port)
  }

  /// libcurl keeps answers by host and port, and asks of each how old it is by the setting of the day.
  private func name(_ host: String, _ port: UInt16) -> String? {
    if CurlURL.isAddress(host) || host.contains(":") { return nil }
    let time = profile.addressing.cacheTime
    return time == .seconds(60) ? "\(host):\(port)" : "\(host):\(port) \(time)"
  }

  /// How long what it has looked up holds; a little less than libcurl keeps it.
  var lookupFreshness: UInt64 { TransferDeadlines.nanoseconds(profile.addressing.cacheTime) / 6 * 5 }
}
