/// How robots.txt is heeded. Copies share their cache, so that several batches, and a middleware, ask each host
/// once.
public struct RobotsPolicy: Sendable {
  /// The product token that groups are looked up by (RFC 9309 §2.2.1): letters, "_" and "-".
  public var agent: String
  /// Whether crawl delays are kept, up to `longestDelay`.
  public var heedsCrawlDelay = true
  /// The longest crawl delay that is kept; 60 s.
  public var longestDelay = Duration.seconds(60)
  let cache: RobotsCache

  /// A policy with a cache of its own: what a host says holds for `lifetime`, a day at most by RFC 9309 §2.4.
  public init(agent: String, lifetime: Duration = .seconds(86_400)) {
    self.agent = agent
    cache = RobotsCache(lifetime: lifetime)
  }
}

/// Asks before a request whether it may be sent.
struct RobotsGate: Sendable {
  private let policy: RobotsPolicy
  private let client: Client

  init(_ policy: RobotsPolicy, client: Client) {
    self.policy = policy
    self.client = client
  }

  /// Returns the crawl delay of the host.
  ///
  /// - Throws: `robotsDisallowed`.
  func admit(_ url: String) async throws(HTTPError) -> Duration? {
    // The file itself is never forbidden, and mustn't be waited for while it is fetched.
    guard let (origin, path) = Self.parts(of: url), path != "/robots.txt" else { return nil }
    let rules = try await policy.cache.rules(of: origin, agent: policy.agent, client: client)
    guard rules.allows(path: path) else {
      throw HTTPError(
        .robotsDisallowed, phase: .queue, message: "the robots.txt of this host forbids this path",
        advice: "Leave it out, or ask its owner", url: url)
    }
    guard policy.heedsCrawlDelay, let delay = rules.crawlDelay else { return nil }
    return min(delay, policy.longestDelay)
  }

  /// Scheme and authority, and path with query; nil for what is no URL, which fails by its own way.
  static func parts(of url: String) -> (origin: String, path: String)? {
    guard let colon = url.firstRange(of: "://") else { return nil }
    let rest = url[colon.upperBound...]
    let end = rest.firstIndex { "/?#\\".contains($0) } ?? rest.endIndex
    let authority = rest[..<end]
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let path = rest[end...].prefix { $0 != "#" }
    let origin = url[..<colon.upperBound] + host
    return (origin.lowercased(), path.first == "/" ? String(path) : "/" + path)
  }
}
