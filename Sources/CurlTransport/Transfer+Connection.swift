import PollLoop
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

  /// Whether the request wants HTTP/2 and nothing else, and its connection speaks something else.
  var isOnOtherProtocol: Bool { request.sharedOptions.value.version == .http2 && !isOnHTTP2 }

  /// How many bytes of the body may still come; nil: nobody knows.
  var outstanding: Int64? { promised.map { max(0, $0 - received) } }

  /// Allows a stream that was refused to be sent again whatever its method (RFC 9113 §8.7): on a fresh connection
  /// libcurl repeats nothing else. On a kept one a refusal can't be told from a connection that died.
  func noteConnections(_ opened: Int) {
    if wasOnFreshStream, machine.sends < Self.mostSends { machine.allowOneMoreSend() }
    wasOnFreshStream = isOnHTTP2 && opened > openedConnections
    openedConnections = opened
  }

  /// Whether libcurl is about to repeat a request with a body on HTTP/2. 7.88 loses count of the body there and may
  /// wait for ever after the answer: such a repeat is begun anew, with a handle that knows nothing of the first.
  var repeatsOnHTTP2: Bool { isHandleUsed && isOnHTTP2 && upload != nil }

  /// An answer over HTTP/2 may be whole before the request's body has gone. libcurl 7.88 sees its end only when it
  /// looks again, and nothing more comes that would make it.
  func askForEnd() { if isOnHTTP2 { post(.lookAgain) } }

  /// Starts the task that feeds a streamed body.
  func startFeeding() {
    guard let upload, feeder == nil, case .stream(let make) = request.body.content else { return }
    let trailers = request.body.trailers
    feeder = Task { await upload.feed(from: make, trailers: trailers) }
  }

  func noteCertificates(_ connection: inout ExchangeFacts.Connection) {
    if !connection.reused, let chain = easy?.peerCertificates {
      turn.certificates.remember(chain, for: connection)
    }
    connection.certificates = turn.certificates.chain(of: connection)
  }

  /// Makes the body begin anew; false when it can be read only once.
  func rewind() -> Bool {
    guard let upload, request.body.isReplayable else { return false }
    upload.restart()
    if case .bytes(let chunk) = request.body.content { upload.fill(chunk) }
    return true
  }

  /// Rewinds a body that libcurl has read from but not sent: such bytes it forgets when it repeats a request.
  func isRewound() -> Bool {
    guard let upload, upload.sent > 0 else { return true }
    return rewind()
  }

  /// A request that may be repeated is sent so often at most.
  static let mostSends = 4

  /// libcurl has a socket of ours, and will say when it closes it.
  func socketOpened(_ socket: Int32) {
    if let socket = poller.opened(fd: socket) { opened.append(socket) }
    turn.lastSocket = turn.now
    if starvedSince != nil {
      starvedSince = nil
      turn.mayHaveDescriptor = true
    }
  }

  /// What was opened for the connection that it is about to be sent on.
  func takeOpened() -> [OpenSocket] {
    guard !opened.isEmpty else { return [] }
    defer { opened = [] }
    return opened
  }

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
    if let proxy = profile.proxy {
      return name(proxy.host, proxy.port, isAddress: CurlURL.isAddress(proxy.host))
    }
    if let override {
      return name(override.address, override.port, isAddress: CurlURL.isAddress(override.address))
    }
    return name(url.host, url.port, isAddress: url.authority.isAddress)
  }

  /// libcurl keeps answers by host and port, and asks of each how old it is by the setting of the day.
  private func name(_ host: String, _ port: UInt16, isAddress: Bool) -> String? {
    if isAddress { return nil }
    let time = profile.addressing.cacheTime
    return time == .seconds(60) ? "\(host):\(port)" : "\(host):\(port) \(time)"
  }

  /// How long what it has looked up holds; a little less than libcurl keeps it.
  var lookupFreshness: UInt64 { TimeLimits.Nanoseconds.of(profile.addressing.cacheTime) / 6 * 5 }

  /// Whether the reader or the feeder is who holds things up.
  var isWaitingForUs: Bool {
    machine.isReceivePaused || machine.isHeld || machine.isSendPaused
  }
}
