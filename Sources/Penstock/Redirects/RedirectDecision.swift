import CurlTransport

/// What follows from a final head: deliver it, follow it, or fail. Pure.
enum RedirectDecision: Sendable {
  case deliver
  case follow(Request, RedirectHop, fragment: String?)
  case fail(HTTPError)

  private static let statuses: Set<Int> = [301, 302, 303, 307, 308]
  /// Dropped with the content they speak of.
  private static let contentFields = [
    "Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
    "Transfer-Encoding", "Expect",
  ]
  private static let secretFields = ["Authorization", "Cookie", "Proxy-Authorization"]

  /// - Parameters:
  ///   - request: the request that was answered.
  ///   - url: where it was sent, without fragment.
  ///   - fragment: what the URL before had after its `#`, inherited by a target that has none.
  ///   - hops: those that led here.
  static func decide(
    _ request: Request, url: String, fragment: String?, head: ResponseHead, hops: [RedirectHop],
    policy: RedirectPolicy, hsts: HSTSStore? = nil
  ) -> RedirectDecision {
    guard policy.limit > 0, statuses.contains(head.status.code), let location = head.headers["Location"]
    else { return .deliver }
    func refuse(_ kind: HTTPError.Kind, _ message: String, _ advice: String? = nil) -> RedirectDecision {
      .fail(
        HTTPError(
          kind, phase: .head, message: message, advice: advice, method: request.method, url: url,
          status: head.status, mayHaveBeenProcessed: true))
    }
    let target: CurlURL
    let current: CurlURL
    var targetFragment: String?
    do throws(HTTPError) {
      current = try CurlURL(url)
      let located = try CurlURL(location, relativeTo: current)
      targetFragment = located.fragment
      target = hsts?.upgraded(located) ?? located
    } catch {
      return refuse(
        error.kind == .unsupportedScheme ? .redirectRefused : .malformedResponse,
        "the server redirects to \"\(Redaction.url(location))\": \(error.message)")
    }
    if hops.count >= policy.limit {
      let chain = (hops.map(\.from) + [url, target.text]).suffix(5).map(Redaction.url)
      return refuse(
        .tooManyRedirects, "more than \(policy.limit) redirects: … \(chain.joined(separator: " → "))",
        "The server may redirect in a circle")
    }
    if current.isSecure, !target.isSecure, !policy.allowsDowngrade {
      return refuse(
        .redirectRefused, "the server redirects from https to \(Redaction.url(target.text))",
        "Ask for that URL by itself if plain http is acceptable")
    }
    var next = request
    next.url = target.text
    switch (head.status.code, request.method) {
    case (301, .post), (302, .post): next.method = .get
    case (303, .head), (303, .get): break
    case (303, _): next.method = .get
    default: break
    }
    if next.method != request.method || (head.status == 303 && !request.body.isEmpty) {
      next.body = .empty
      for name in contentFields { next.headers.removeAll(name) }
    } else if !request.body.isEmpty, !request.body.isReplayable {
      return refuse(
        .bodyNotReplayable, "the server redirects to \(Redaction.url(target.text)) and wants the body again",
        "Give a body that can be read again")
    }
    if target.origin != current.origin { next.headers.removeAll("Host") }
    if target.origin != current.origin, !policy.keepsSecrets {
      for name in secretFields + request.secretHeaders {
        next.headers.removeAll(name)
        // Nor does the client's own field of that name go there.
        next.withoutDefaults.insert(name)
      }
    }
    let hop = RedirectHop(status: head.status, from: url, to: target.text, method: next.method)
    return .follow(next, hop, fragment: targetFragment ?? fragment)
  }
}
