import StreamCore

/// The computation of HTTP's digest authentication (RFC 7616 §3.4). Pure.
struct DigestAnswer: Sendable {
  /// A challenge that can be answered.
  struct Challenge: Sendable, Hashable {
    enum Algorithm: String, Sendable {
      case md5 = "MD5"
      case md5Session = "MD5-sess"
      case sha256 = "SHA-256"
      case sha256Session = "SHA-256-sess"
      case sha512t256 = "SHA-512-256"
      case sha512t256Session = "SHA-512-256-sess"

      var function: HashFunction {
        switch self {
        case .md5, .md5Session: .md5
        case .sha256, .sha256Session: .sha256
        case .sha512t256, .sha512t256Session: .sha512t256
        }
      }
      var isSession: Bool {
        switch self {
        case .md5Session, .sha256Session, .sha512t256Session: true
        case .md5, .sha256, .sha512t256: false
        }
      }
      /// MD5 is the weak one; between the others the server's order decides.
      var isStrong: Bool { function != .md5 }
    }

    /// What is protected (RFC 7616 §3.3).
    enum Protection: String, Sendable {
      /// Method and target: `qop=auth`.
      case head = "auth"
      /// The body too.
      case headAndBody = "auth-int"
    }

    var realm: String
    var nonce: String
    var opaque: String?
    var algorithm: Algorithm
    /// Whether the algorithm was named; then it is named in the answer.
    var namesAlgorithm: Bool
    /// What is protected: `auth` where it is offered, as the body may be a stream. Without any qop the old form of
    /// RFC 2069 is answered.
    var protection: Protection?
    var isStale: Bool
    var hashesUser: Bool

    /// Nil when it isn't a digest challenge, or one with an algorithm or protection that isn't supported.
    init?(_ challenge: AuthChallenge) {
      guard challenge.scheme == "digest", let realm = challenge.parameters["realm"],
        let nonce = challenge.parameters["nonce"]
      else { return nil }
      self.realm = realm
      self.nonce = nonce
      opaque = challenge.parameters["opaque"]
      switch challenge.parameters["algorithm"]?.lowercased() {
      case nil, "md5": algorithm = .md5
      case "md5-sess": algorithm = .md5Session
      case "sha-256": algorithm = .sha256
      case "sha-256-sess": algorithm = .sha256Session
      case "sha-512-256": algorithm = .sha512t256
      case "sha-512-256-sess": algorithm = .sha512t256Session
      default: return nil
      }
      namesAlgorithm = challenge.parameters["algorithm"] != nil
      if let offered = challenge.parameters["qop"] {
        let words = offered.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        guard
          let offered = [Protection.head, .headAndBody].first(where: { words.contains($0.rawValue[...]) })
        else { return nil }
        protection = offered
      }
      isStale = challenge.parameters["stale"]?.lowercased() == "true"
      hashesUser = challenge.parameters["userhash"]?.lowercased() == "true"
    }

    /// The first of those that can be answered, but MD5 only where there is nothing else.
    static func best(of challenges: [AuthChallenge]) -> Challenge? {
      let possible = challenges.compactMap { Challenge($0) }
      return possible.first { $0.algorithm.isStrong } ?? possible.first
    }
  }

  var user: String
  var password: String
  var method: String
  /// The request target as it is sent.
  var target: String
  /// How often the nonce was used, this time included.
  var count: UInt32
  var clientNonce: String
  /// The digest of the body in hexadecimal digits, by the challenge's algorithm; only where the body is protected.
  var bodyDigest = ""

  /// The value of the Authorization field.
  func field(for challenge: Challenge) throws(HTTPError) -> String {
    let response = try response(to: challenge)
    var parts: [String] = []
    if challenge.hashesUser {
      parts.append("username=\"\(try hash("\(user):\(challenge.realm)", challenge))\"")
    } else if user.utf8.contains(where: { $0 >= 0x80 }) {
      parts.append("username*=UTF-8''\(PercentEncoding.encode(user.utf8))")
    } else {
      parts.append("username=\(Self.quoted(user))")
    }
    parts.append("realm=\(Self.quoted(challenge.realm))")
    parts.append("uri=\(Self.quoted(target))")
    if challenge.namesAlgorithm { parts.append("algorithm=\(challenge.algorithm.rawValue)") }
    parts.append("nonce=\(Self.quoted(challenge.nonce))")
    if let protection = challenge.protection {
      parts.append("nc=\(hexCount)")
      parts.append("cnonce=\(Self.quoted(clientNonce))")
      parts.append("qop=\(protection.rawValue)")
    } else if challenge.algorithm.isSession {
      parts.append("cnonce=\(Self.quoted(clientNonce))")
    }
    parts.append("response=\"\(response)\"")
    if let opaque = challenge.opaque { parts.append("opaque=\(Self.quoted(opaque))") }
    if challenge.hashesUser { parts.append("userhash=true") }
    return "Digest " + parts.joined(separator: ", ")
  }

  /// The response parameter.
  func response(to challenge: Challenge) throws(HTTPError) -> String {
    var first = try hash("\(user):\(challenge.realm):\(password)", challenge)
    if challenge.algorithm.isSession {
      first = try hash("\(first):\(challenge.nonce):\(clientNonce)", challenge)
    }
    let body = challenge.protection == .headAndBody ? ":" + bodyDigest : ""
    let second = try hash("\(method):\(target)\(body)", challenge)
    guard let protection = challenge.protection?.rawValue else {
      return try hash("\(first):\(challenge.nonce):\(second)", challenge)
    }
    return try hash(
      "\(first):\(challenge.nonce):\(hexCount):\(clientNonce):\(protection):\(second)", challenge)
  }

  private var hexCount: String {
    let digits = String(count, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  private func hash(_ text: String, _ challenge: Challenge) throws(HTTPError) -> String {
    HexDigits.encode(try BodyDigest.of(Array(text.utf8), challenge.algorithm.function))
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}
