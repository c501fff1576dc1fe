import CurlTransport

/// The request that follows a redirect.
enum RedirectRequest {
  /// Dropped with the content they speak of.
  private static let contentFields = [
    "Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
    "Transfer-Encoding", "Trailer", "Expect",
  ]
  /// Method, body and fields by RFC 9110 §15.4 and the Fetch standard; secrets stay at home.
  static func next(
    _ request: Request, from current: CurlURL, to target: CurlURL, status: HTTPStatus,
    _ policy: RedirectPolicy
  ) -> Request {
    var next = request
    next.url = target.text
    switch (status.code, request.method) {
    case (301, .post), (302, .post): next.method = .get
    case (303, .head), (303, .get): break
    case (303, _): next.method = .get
    default: break
    }
    if next.method != request.method || (status == 303 && !request.body.isEmpty) {
      next.body = .empty
      for name in contentFields { next.headers.removeAll(name) }
    }
    guard target.origin != current.origin else { return next }
    next.headers.removeAll("Host")
    if !policy.keepsSecrets {
      next.leaveOwnCredential()
      for name in secretFields(of: request) {
        next.headers.removeAll(name)
        // Nor does the client's own field of that name go there.
        next.withoutDefaults.insert(name)
      }
    }
    return next
  }

  /// A request of the caller's, without the secrets of the one that was answered if it goes elsewhere.
  static func withoutSecrets(
    of request: Request, _ other: Request, from current: CurlURL, to target: CurlURL, _ policy: RedirectPolicy
  ) -> Request {
    var next = other
    next.url = target.text
    guard target.origin != current.origin, !policy.keepsSecrets else { return next }
    next.leaveOwnCredential()
    for name in secretFields(of: request) {
      if next.headers[all: name] == request.headers[all: name] { next.headers.removeAll(name) }
      next.withoutDefaults.insert(name)
    }
    return next
  }

  /// What everybody takes for a secret, what a credential was given for, and what the request names.
  private static func secretFields(of request: Request) -> Set<String> {
    Redaction.secretFields.union(request.secretHeaders)
      .union(request.headers.lazy.map(\.name).filter(Redaction.isSecretField))
  }
}
