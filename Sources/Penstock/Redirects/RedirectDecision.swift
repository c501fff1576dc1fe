import CurlTransport

/// What follows from a final head: deliver it, follow it, or fail. Pure.
enum RedirectDecision: Sendable {
  case deliver
  case follow(Request, RedirectHop, fragment: String?)
  case fail(HTTPError)

  private static let statuses: Set<Int> = [301, 302, 303, 307, 308]

  /// - Parameters:
  ///   - request: the request that was answered.
  ///   - url: where it was sent, without fragment.
  ///   - fragment: what the URL before had after its `#`, inherited by a target that has none.
  ///   - hops: those that led here.
  static func decide(
    _ request: Request, url: String, fragment: String?, head: ResponseHead, hops: [RedirectHop],
    policy: RedirectPolicy, hsts: HSTSStore? = nil
  ) -> RedirectDecision {
    guard policy.limit > 0, statuses.contains(head.status.code), let location = RedirectTarget.location(head)
    else { return .deliver }
    func refuse(_ kind: HTTPError.Kind, _ message: String, _ advice: String? = nil) -> RedirectDecision {
      .fail(
        HTTPError(
          kind, phase: .head, message: message, advice: advice, method: request.method, url: url,
          status: head.status, mayHaveBeenProcessed: true))
    }
    var target: CurlURL
    let current: CurlURL
    do throws(HTTPError) {
      current = try CurlURL(url)
      let located = try CurlURL(location, relativeTo: current)
      target = hsts?.upgraded(located) ?? located
    } catch {
      return refuse(
        error.kind == .unsupportedScheme ? .redirectRefused : .malformedResponse,
        "the server redirects to \"\(Redaction.url(location))\": \(error.message)")
    }
    var next = RedirectRequest.next(request, from: current, to: target, status: head.status, policy)
    var hop = RedirectHop(status: head.status, from: url, to: target.text, method: next.method)
    if let decide = policy.decide {
      let proposal = RedirectProposal(
        head: head, request: request, next: next, hop: hop, history: hops,
        changesOrigin: target.origin != current.origin)
      switch decide(proposal) {
      case .follow: break
      case .stop: return .deliver
      case .rewrite(let other):
        do throws(HTTPError) {
          target = try CurlURL(other.url)
        } catch {
          return .fail(error.naming(method: other.method, url: other.url))
        }
        next = RedirectRequest.withoutSecrets(of: request, other, from: current, to: target, policy)
        hop = RedirectHop(status: head.status, from: url, to: target.text, method: next.method)
      }
    }
    if hops.count >= policy.limit {
      return refuse(
        .tooManyRedirects,
        "more than \(policy.limit) redirects: \(RedirectTarget.chain(hops.map(\.from) + [url, target.text]))",
        "The server may redirect in a circle")
    }
    if current.isSecure, !target.isSecure, !policy.allowsDowngrade {
      return refuse(
        .redirectRefused, "the server redirects from https to \(Redaction.url(target.text))",
        "Ask for that URL by itself if plain http is acceptable")
    }
    if !next.body.isEmpty, !next.body.isReplayable {
      return refuse(
        .bodyNotReplayable, "the server redirects to \(Redaction.url(target.text)) and wants the body again",
        "Give a body that can be read again")
    }
    return .follow(next, hop, fragment: target.fragment ?? fragment)
  }
}
