import StreamCore

/// A failure as libcurl reported it, and what becomes of it: CURLcode → `HTTPError`.
struct CurlError {
  let code: Int
  /// libcurl's own words.
  let text: String
  /// The status of the proxy's answer to CONNECT, or 0.
  let connectStatus: Int

  func httpError(for transfer: Transfer) -> HTTPError {
    if let refusal = transfer.machine.refusal { return refusal }
    if let failure = transfer.upload?.failure {
      return failure.naming(method: transfer.request.method, url: transfer.url.text)
    }
    var (kind, advice) = meaning(transfer)
    var message = text
    if kind == .truncated, let promised = transfer.promised {
      message = "the body was cut off: \(transfer.received) of \(promised) bytes came"
    }
    if let option { message = "\(option): \(text)" }
    // libcurl has only "Out of memory" for it.
    if kind == .headTooLarge, code == 27 { message = "a line of the head is larger than 100 KiB" }
    if kind == .connectionLost, isSilentEnd { message = TransferMessages.lostAnswer.0 }
    var problem: CertificateProblem?
    if kind == .serverCertificate {
      var found = CertificateProblem(text: text)
      // Whatever else libcurl has against a stapled status: it doesn't tell that the certificate is good.
      if code == 91, found != .revoked { found = .unknownStatus }
      problem = found
      advice = found.advice
    }
    let phase = phase(kind, transfer)
    if phase == .connect, let proxy = transfer.profile.proxy { message += " (through the proxy \(proxy))" }
    if kind == .connectFailed, let socket = transfer.profile.addressing.unixSocket {
      message += " (through the socket \"\(socket)\")"
      advice = "Check the socket's path, and whether its server is up"
    }
    let status = kind == .proxyRefused && connectStatus > 0 ? HTTPStatus(connectStatus) : transfer.status
    return HTTPError(
      kind, phase: phase, message: message, advice: advice, method: transfer.request.method,
      url: transfer.url.text, status: status, received: transfer.received,
      mayHaveBeenProcessed: transfer.machine.sends > 0, certificateProblem: problem)
  }

  /// The option that libcurl could make nothing of when it opened a connection.
  private var option: String? {
    switch code {
    case 59: text.contains("TLS 1.3") ? "tls.tls13Ciphers" : "tls.ciphers"
    case 77: "tls.caFile or tls.extraRoots"
    case 82: "tls.revocationList"
    default: nil
    }
  }

  private func phase(_ kind: HTTPError.Kind, _ transfer: Transfer) -> HTTPError.Phase {
    switch kind {
    case .hostNotResolved, .proxyNotResolved, .connectFailed, .tlsHandshake, .serverCertificate,
      .clientCertificate, .pinnedKeyMismatch, .proxyRefused:
      .connect
    case .emptyReply, .connectionLost: .head
    default: transfer.machine.errorPhase
    }
  }

  private func meaning(_ transfer: Transfer) -> (HTTPError.Kind, String?) {
    let hasHead = transfer.status != nil
    if isProxyRefusal {
      let advice =
        connectStatus == 407
        ? "Check the proxy's user name, password and kind of authentication"
        : connectStatus > 0 ? "Ask whoever runs the proxy whether it lets this host and port through" : nil
      return (.proxyRefused, advice)
    }
    if isLostStream(transfer) {
      if isSilentEnd { return (.connectionLost, TransferMessages.lostAnswer.1) }
      return (
        .connectionLost, "Send it again if that does no harm: the connection ended before an answer came"
      )
    }
    switch code {
    case 1, 8: return (.malformedResponse, "Check that the server speaks HTTP on this port")
    case 3: return (.invalidURL, nil)
    case 5: return (.proxyNotResolved, "Check the proxy's name")
    case 6: return (.hostNotResolved, "Check the host's name and the resolver")
    case 7 where transfer.lacksDescriptor: return (.outOfResources, TransferMessages.noDescriptor.1)
    case 7: return (.connectFailed, "Check host and port, and whether the server is up")
    case 16: return (.http2Framing, "Try again, or use HTTP/1.1")
    case 18: return (.truncated, "Try again")
    // A header line that goes on a line that isn't there, and trailers that can't be read.
    case 43: return (.malformedResponse, "Check that the server speaks HTTP on this port")
    case 23: return (.transport, nil)
    case 27: return hasHead ? (.outOfResources, nil) : (.headTooLarge, nil)
    case 35 where isClientCertificateRefused:
      return (.clientCertificate, "The server wants a client certificate that it knows")
    case 35, 53, 54, 66, 80: return (.tlsHandshake, "Check that the port speaks TLS, and in which versions")
    case 59: return (.tlsHandshake, "Check the names of the ciphers")
    case 42: return (.transport, nil)
    case 45: return (.connectFailed, "Check the local interface and ports")
    case 52: return (.emptyReply, "Try again; the server closed the connection without an answer")
    case 55: return (.sendFailed, "Try again")
    case 56 where isClientCertificateRefused && !hasHead:
      return (.clientCertificate, "The server wants a client certificate that it knows")
    case 56: return (.receiveFailed, "Try again")
    case 58: return (.clientCertificate, "Check certificate, key and password, and that they belong together")
    case 60, 83, 91: return (.serverCertificate, nil)
    case 77: return (.invalidConfiguration, "Check the file of trusted roots")
    case 82: return (.invalidConfiguration, "Check the file of revocation lists")
    case 65: return (.bodyNotReplayable, "Give a body that can be read again")
    case 61: return (.contentEncoding, nil)
    case 67: return (.loginDenied, nil)
    case 90:
      return (.pinnedKeyMismatch, "The server has another key than the pinned ones: check who answers there")
    case 92: return (.http2Stream, "Try again")
    case 96: return (.transport, nil)
    default: return (.transport, nil)
    }
  }

  /// CONNECT was answered by anything but success, or SOCKS said no.
  private var isProxyRefusal: Bool {
    if code == 97 { return true }
    return code == 56 && connectStatus > 0 && !(200..<300).contains(connectStatus)
  }

  /// OpenSSL's alerts for a certificate that is missing or unwelcome; with TLS 1.3 they come after the handshake.
  private var isClientCertificateRefused: Bool {
    [
      "certificate required", "bad certificate", "unknown ca", "certificate unknown",
      "handshake failure:cert",
    ]
    .contains { text.contains("alert " + $0) }
  }

  /// A stream that was reset without an error: libcurl has its general words for it.
  private var isSilentEnd: Bool {
    code == 18 && text == "Transferred a partial file"
      || code == 92 && text == "Stream error in the HTTP/2 framing layer"
  }

  /// A stream that was refused, or whose connection went away, before an answer began (RFC 9113 §6.8, §8.7). libcurl
  /// has five codes for it, each of which also stands for other things (decision 20).
  private func isLostStream(_ transfer: Transfer) -> Bool {
    guard transfer.status == nil, transfer.mayShareConnection else { return false }
    if text.contains("REFUSED_STREAM") { return true }
    return switch code {
    // A session that has ended in good order; for broken frames libcurl has words of their own.
    case 16: text == "Error in the HTTP2 framing layer"
    // 52: a session that has ended, in good order or by broken frames, without a byte for this stream.
    case 18, 52, 55, 56: transfer.isOnHTTP2
    case 92:
      isSilentEnd || text.contains("GOAWAY")
        || text.contains("was not closed cleanly before end of the underlying stream")
    default: false
    }
  }
}
