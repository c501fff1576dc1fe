import CurlTransport
public import StreamCore
import Synchronization

/// Digest authentication (RFC 7616): MD5, SHA-256 and SHA-512-256 with their `-sess` forms; `qop=auth`, and
/// `auth-int` where the server offers nothing else: then the body is read once more for its digest, and one that is
/// a stream can't be sent.
///
/// The first request to an origin goes without an answer and is sent again after the server's challenge; later ones
/// answer the last challenge unasked. A request whose body can't be sent twice fails with
/// `HTTPError.Kind.bodyNotReplayable` when it is challenged. `stale=true` and `nextnonce` are followed. One credential may serve many
/// requests at once.
public final class DigestCredential: Credential {
  private struct Space: Sendable {
    var challenge: DigestAnswer.Challenge
    var count: UInt32 = 0
    /// One for the life of a nonce, as the `-sess` forms need it.
    var clientNonce: String
  }

  /// Challenges are remembered for so many origins.
  private static let limit = 64

  private let user: String
  private let password: Secret
  private let clientNonce: @Sendable () -> String
  private let spaces = Mutex<[HTTPOrigin: Space]>([:])

  /// User name and password.
  public convenience init(user: String, password: String) {
    self.init(user: user, password: password, clientNonce: { RandomBytes.text(18) })
  }

  init(user: String, password: String, clientNonce: @escaping @Sendable () -> String) {
    self.user = user
    self.password = Secret(password)
    self.clientNonce = clientNonce
  }

  /// Answers the last challenge of the origin, where there is one.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    guard !request.headers.contains("Authorization") else { return }
    let space = spaces.withLock { spaces -> Space? in
      guard var space = spaces[context.origin] else { return nil }
      // A nonce whose counter is used up is as good as none.
      guard space.count < .max else {
        spaces[context.origin] = nil
        return nil
      }
      space.count += 1
      spaces[context.origin] = space
      return space
    }
    context.note = space?.challenge.nonce
    guard let space else { return }
    var answer = DigestAnswer(
      user: user, password: password.value, method: request.method.rawValue,
      target: try RequestTarget(request.url).pathAndQuery, count: space.count, clientNonce: space.clientNonce)
    if space.challenge.protection == .headAndBody {
      let function = space.challenge.algorithm.function
      guard let digest = try await BodyDigest.bytes(of: EncodedBody(request).body, function) else {
        throw HTTPError(
          .bodyNotReplayable, phase: .queue,
          message: "the server wants the body in its digest (auth-int), and a stream can't be read ahead",
          advice: "Give the body as bytes or a file", method: request.method, url: request.url)
      }
      answer.bodyDigest = HexDigits.encode(digest)
    }
    request.headers.append("Authorization", try answer.field(for: space.challenge))
  }

  /// Sends again after a 401 with a challenge that wasn't answered yet, or whose nonce was only stale.
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict {
    let used = context.note as? String
    guard head.status == 401 else {
      if let used { follow(head, used, context.origin) }
      return .deliver
    }
    // One that the caller has set isn't ours to change.
    if used == nil, request.headers.contains("Authorization") { return .deliver }
    guard let challenge = DigestAnswer.Challenge.best(of: AuthChallenge.all(in: head.headers)) else {
      return .deliver
    }
    let isNewer = spaces.withLock { spaces -> Bool in
      // Another request has met a newer challenge meanwhile: that one is worth an answer.
      if let known = spaces[context.origin], let used, known.challenge.nonce != used { return true }
      if spaces.count >= Self.limit { spaces.removeAll() }
      spaces[context.origin] = Space(challenge: challenge, clientNonce: clientNonce())
      return false
    }
    // The right nonce and a refusal all the same: user or password are wrong.
    if used != nil, !challenge.isStale, !isNewer, context.resends > 0 { return .deliver }
    return context.resends < 2 ? .resend : .deliver
  }

  private func follow(_ head: ResponseHead, _ used: String, _ origin: HTTPOrigin) {
    guard let info = head.headers["Authentication-Info"],
      let next = AuthChallenge.parse("info " + info).first?.parameters["nextnonce"]
    else { return }
    spaces.withLock { spaces in
      guard let space = spaces[origin], space.challenge.nonce == used else { return }
      var challenge = space.challenge
      challenge.nonce = next
      spaces[origin] = Space(challenge: challenge, clientNonce: clientNonce())
    }
  }
}

extension Credential where Self == DigestCredential {
  /// User name and password, proven without being sent. Keep one credential for many requests.
  public static func digest(user: String, password: String) -> DigestCredential {
    DigestCredential(user: user, password: password)
  }
}

/// The parts of a URL that signatures and digests speak of.
struct RequestTarget: Sendable {
  let url: CurlURL
  /// The path, at least "/".
  let path: String
  /// What follows the question mark; nil where there is none.
  let query: String?

  init(_ text: String) throws(HTTPError) {
    url = try CurlURL(text)
    let start = url.text.utf8.index(url.text.startIndex, offsetBy: url.scheme.utf8.count + 3)
    let rest = url.text[start...].drop { $0 != "/" && $0 != "?" }
    let path = rest.prefix { $0 != "?" }
    self.path = path.isEmpty ? "/" : String(path)
    query = path.endIndex < rest.endIndex ? String(rest[path.endIndex...].dropFirst()) : nil
  }

  /// The request target in origin form (RFC 9112 §3.2.1).
  var pathAndQuery: String { path + (query.map { "?" + $0 } ?? "") }

  /// The URL with another query.
  func replacing(query: String) -> String {
    String(url.text.prefix { $0 != "?" }) + "?" + query + (url.fragment.map { "#" + $0 } ?? "")
  }
}
