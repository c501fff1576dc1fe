import StreamCore
import Testing

@testable import Penstock

@Suite struct RedirectDecisionTests {
  private func decide(
    _ request: Request, _ status: Int = 302, to location: String, policy: RedirectPolicy = .init(),
    hops: [RedirectHop] = []
  ) -> RedirectDecision {
    RedirectDecision.decide(
      request, url: request.url, fragment: nil,
      head: ResponseHead(
        status: HTTPStatus(status), reason: "", version: .http1_1, headers: ["Location": location]),
      hops: hops, policy: policy)
  }

  private func next(_ decision: RedirectDecision) -> Request? {
    if case .follow(let request, _, _) = decision { return request }
    return nil
  }

  private func error(_ decision: RedirectDecision) -> HTTPError? {
    if case .fail(let error) = decision { return error }
    return nil
  }

  @Test(arguments: [
    ("http://h/a", "https://h/a"), ("http://h/", "http://h:8080/"), ("http://h/", "http://i/"),
    ("http://h/", "http://www.h/"), ("https://h/", "https://h:444/"),
  ])
  func `any change of scheme, host or port drops the secrets`(_ from: String, _ to: String) {
    var request = Request.get(from, headers: ["X-Key": "k", "X-Plain": "p", "Host": "other"])
    for name in ["authorization", "Cookie", "PROXY-AUTHORIZATION"] { request.headers.append(name, "s") }
    request.secretHeaders = ["x-key"]
    let following = next(decide(request, to: to))
    #expect(following?.headers == ["X-Plain": "p"])
    // Not even the client's own of these names.
    #expect(following?.withoutDefaults.contains { $0.lowercased() == "authorization" } == true)
    #expect(following?.withoutDefaults.contains("x-key") == true)
  }

  @Test func `the usual fields for keys and tokens stay at the first origin without being named`() {
    let names = ["X-Api-Key", "api-key", "X-Auth-Token", "X-ACCESS-TOKEN", "DPoP", "X-Amz-Security-Token"]
    var request = Request.get("https://h/", headers: ["X-Plain": "p"])
    for name in names { request.headers.append(name, "hush") }
    let away = next(decide(request, to: "https://i/"))
    #expect(away?.headers == ["X-Plain": "p"])
    // The client's own of these names stays too.
    #expect(away?.withoutDefaults.contains { $0.lowercased() == "x-api-key" } == true)
    #expect(next(decide(request, to: "/other"))?.headers == request.headers)
    var policy = RedirectPolicy()
    policy.keepsSecrets = true
    #expect(next(decide(request, to: "https://i/", policy: policy))?.headers == request.headers)
  }

  @Test func `a target that is only a fragment is the same document`() throws {
    guard case .follow(let next, let hop, let fragment) = decide(.get("http://h/a/b?q=1"), to: "#only") else {
      Issue.record("not followed")
      return
    }
    #expect(next.url == "http://h/a/b?q=1")
    #expect(hop.to == "http://h/a/b?q=1")
    #expect(fragment == "only")
  }

  @Test func `the same origin keeps them, with and without its usual port`() {
    let request = Request.get("http://h/", headers: ["Cookie": "a=1", "Host": "other"])
    let following = next(decide(request, to: "http://h:80/x"))
    #expect(following?.headers == request.headers)
  }

  @Test func `what was dropped isn't restored on the way back`() throws {
    var request = Request.get("http://h/", headers: ["Authorization": "s"])
    request = try #require(next(decide(request, to: "http://i/")))
    request = try #require(next(decide(request, to: "http://h/")))
    #expect(!request.headers.contains("Authorization"))
    #expect(request.withoutDefaults.contains { $0.lowercased() == "authorization" })
  }

  @Test func `a policy that keeps secrets sends them on, the Host field stays at home`() {
    var policy = RedirectPolicy()
    policy.keepsSecrets = true
    let request = Request.get("http://h/", headers: ["Authorization": "s", "Host": "other"])
    #expect(next(decide(request, to: "http://i/", policy: policy))?.headers == ["Authorization": "s"])
  }

  @Test(arguments: [
    ("//i/x", "http://i/x"), ("x", "http://h/a/x"), ("/x", "http://h/x"), ("?q", "http://h/a/b?q"),
    ("../../..", "http://h/"), ("http://I:80/", "http://I:80/"), ("/a%20b", "http://h/a%20b"),
    ("/a b", "http://h/a%20b"),
    ("http://u:p@h/", "http://h/"),
  ])
  func `targets are resolved`(_ location: String, _ expected: String) {
    #expect(next(decide(.get("http://h/a/b"), to: location))?.url == expected)
  }

  @Test func `bytes that aren't UTF-8 are encoded one by one`() {
    var headers = HTTPFields()
    headers.append("Location", bytes: Array("/caf".utf8) + [0xE9])
    let head = ResponseHead(status: 302, reason: "", version: .http1_1, headers: headers)
    #expect(RedirectTarget.location(head) == "/caf%E9")
  }

  @Test func `fragments are inherited, and replaced by the target's`() {
    let head = ResponseHead(status: 302, reason: "", version: .http1_1, headers: ["Location": "/x"])
    let kept = RedirectDecision.decide(
      .get("http://h/"), url: "http://h/", fragment: "f", head: head, hops: [], policy: .init())
    guard case .follow(let request, _, "f"?) = kept else {
      Issue.record("not inherited")
      return
    }
    #expect(request.url == "http://h/x")
    guard case .follow(let other, let hop, "g"?) = decide(.get("http://h/"), to: "/x#g") else {
      Issue.record("not replaced")
      return
    }
    #expect(!other.url.contains("#") && !hop.to.contains("#"))
  }

  @Test func `https to http is refused unless allowed`() {
    #expect(error(decide(.get("https://h/"), to: "http://h/"))?.kind == .redirectRefused)
    var policy = RedirectPolicy()
    policy.allowsDowngrade = true
    #expect(next(decide(.get("https://h/"), to: "http://h/", policy: policy)) != nil)
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://h/", "javascript:alert(1)", "data:text/plain,x"])
  func `other schemes are refused`(_ location: String) {
    let kind = error(decide(.get("http://h/"), to: location))?.kind
    #expect(kind == .redirectRefused || kind == .malformedResponse)
  }

  @Test func `the error at the limit tells the whole way, secrets cut`() {
    let hops = (0..<3).map {
      RedirectHop(status: 302, from: "http://h/\($0)?token=hush", to: "http://h/\($0 + 1)", method: .get)
    }
    var policy = RedirectPolicy()
    policy.limit = 3
    let message = error(decide(.get("http://h/3"), to: "/4", policy: policy, hops: hops))?.message ?? ""
    for part in ["/0", "/1", "/2", "/3", "/4"] { #expect(message.contains(part)) }
    #expect(!message.contains("hush"))
    #expect(message.hasPrefix("more than 3 redirects"))
  }

  @Test func `a very long way is told by its ends`() {
    let text = RedirectTarget.chain((0..<100).map { "http://h/\($0)/" + String(repeating: "x", count: 500) })
    #expect(text.contains("/0/") && text.contains("/99/") && !text.contains("/50/"))
    #expect(text.utf8.count < 8000)
  }

  @Test func `a circle is told once`() {
    let circle = ["http://h/", "http://h/a", "http://h/b", "http://h/a", "http://h/b", "http://h/a"]
    #expect(RedirectTarget.chain(circle) == "http://h/ → http://h/a → http://h/b → http://h/a → …")
    #expect(RedirectTarget.chain(["http://h/a", "http://h/a"]) == "http://h/a → http://h/a")
  }

  @Test func `the closure may stop, which makes the 3xx the response`() {
    var policy = RedirectPolicy()
    policy.decide = { $0.changesOrigin ? .stop : .follow }
    guard case .deliver = decide(.get("http://h/"), to: "http://i/", policy: policy) else {
      Issue.record("followed")
      return
    }
    #expect(next(decide(.get("http://h/"), to: "/x", policy: policy)) != nil)
    // Even what would be refused otherwise.
    guard case .deliver = decide(.get("https://h/"), to: "http://i/", policy: policy) else {
      Issue.record("refused")
      return
    }
  }

  @Test func `the closure may send another request, whose new secrets go along and old ones don't`() {
    var policy = RedirectPolicy()
    policy.decide = { proposal in
      var other = proposal.request
      other.url = "http://j/y"
      other.headers["X-New"] = proposal.hop.to
      other.headers["Cookie"] = "new=1"
      return .rewrite(other)
    }
    let request = Request.get("http://h/", headers: ["Authorization": "old", "Cookie": "old=1"])
    let decision = decide(request, to: "http://i/x", policy: policy)
    #expect(next(decision)?.url == "http://j/y")
    #expect(next(decision)?.headers == ["X-New": "http://i/x", "Cookie": "new=1"])
    guard case .follow(_, let hop, _) = decision else { return }
    #expect(hop.to == "http://j/y")
  }

  @Test func `a rewritten request is held to the rules`() {
    var policy = RedirectPolicy()
    policy.decide = { _ in .rewrite(.get("http://i/")) }
    #expect(error(decide(.get("https://h/"), to: "/x", policy: policy))?.kind == .redirectRefused)
    policy.decide = { _ in .rewrite(.get("not a url")) }
    #expect(error(decide(.get("http://h/"), to: "/x", policy: policy))?.kind == .invalidURL)
  }

  @Test(arguments: [301, 302, 303]) func `fields about a dropped body go with it`(_ status: Int) {
    let request = Request.post(
      "http://h/",
      headers: [
        "Content-Type": "a/b", "Content-Encoding": "br", "Trailer": "X", "Expect": "100-continue", "X-A": "1",
      ],
      body: .string("x"))
    let following = next(decide(request, status, to: "/x"))
    #expect(following?.method == .get)
    #expect(following?.body.isEmpty == true)
    #expect(following?.headers == ["X-A": "1"])
  }
}
