import StreamCore

/// A failure as libcurl reported it, and what becomes of it: CURLcode → `HTTPError`.
struct CurlError {
  let code: Int
  /// libcurl's own words.
  let text: String
  /// The status of a refused CONNECT, or 0.
  let connectStatus: Int

  func httpError(for transfer: Transfer) -> HTTPError {
    if let refusal = transfer.machine.refusal { return refusal }
    if let failure = transfer.upload?.failure {
      return failure.naming(method: transfer.request.method, url: transfer.url.text)
    }
    let (kind, advice) = meaning(transfer)
    var message = text
    if kind == .truncated, let promised = transfer.promised {
      message = "the body was cut off: \(transfer.received) of \(promised) bytes came"
    }
    return transfer.error(kind, message, advice: advice, phase: phase(kind, transfer))
  }

  private func phase(_ kind: HTTPError.Kind, _ transfer: Transfer) -> HTTPError.Phase {
    switch kind {
    case .hostNotResolved, .proxyNotResolved, .connectFailed, .tlsHandshake, .serverCertificate,
      .clientCertificate, .pinnedKeyMismatch, .proxyRefused:
      .connect
    case .emptyReply: .head
    default: transfer.machine.errorPhase
    }
  }

  private func meaning(_ transfer: Transfer) -> (HTTPError.Kind, String?) {
    let hasHead = transfer.status != nil
    switch code {
    case 1, 8: return (.malformedResponse, "Check that the server speaks HTTP on this port")
    case 3: return (.invalidURL, nil)
    case 5: return (.proxyNotResolved, "Check the proxy's name")
    case 6: return (.hostNotResolved, "Check the host's name and the resolver")
    case 7: return (.connectFailed, "Check host and port, and whether the server is up")
    case 16: return (.http2Framing, "Try again, or use HTTP/1.1")
    case 18: return (.truncated, "Try again")
    case 23, 43: return (.transport, nil)
    case 27: return hasHead ? (.outOfResources, nil) : (.headTooLarge, nil)
    case 35, 53, 54, 59, 66, 80: return (.tlsHandshake, "Check the protocol versions that the server offers")
    case 42: return (.transport, nil)
    case 45: return (.connectFailed, "Check the local interface")
    case 52: return (.emptyReply, "Try again; the server closed the connection without an answer")
    case 55: return (.sendFailed, "Try again")
    case 56:
      if connectStatus >= 400 { return (.proxyRefused, "The proxy answered \(connectStatus)") }
      return (.receiveFailed, "Try again")
    case 58: return (.clientCertificate, "Check certificate and key")
    case 60, 83, 91: return (.serverCertificate, certificateAdvice)
    case 77: return (.invalidConfiguration, "Check the file of trusted roots")
    case 65: return (.bodyNotReplayable, "Give a body that can be read again")
    case 61: return (.contentEncoding, nil)
    case 67: return (.loginDenied, nil)
    case 90: return (.pinnedKeyMismatch, nil)
    case 92: return (.http2Stream, "Try again")
    case 97: return (.proxyRefused, nil)
    default: return (.transport, nil)
    }
  }

  private var certificateAdvice: String {
    if text.contains("subject name") || text.contains("alternative") {
      return "The certificate is for another name: check the host"
    }
    if text.contains("expired") { return "The certificate has expired" }
    if text.contains("self-signed") || text.contains("self signed") || text.contains("local issuer") {
      return "The certificate isn't signed by a trusted root: name the right one if you trust it"
    }
    return "Check the server's certificate chain"
  }
}
