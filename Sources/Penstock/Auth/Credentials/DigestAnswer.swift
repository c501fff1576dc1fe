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

      var digest: Digest.Algorithm { self == .md5 || self == .md5Session ? .md5 : .sha256 }
      var isSession: Bool { self == .md5Session || self == .sha256Session }
    }

    var realm: String
    var nonce: String
    var opaque: String?
    var algorithm: Algorithm
    /// Whether the algorithm was named; then it is named in the answer.
    var namesAlgorithm: Bool
    /// Whether `qop=auth` is offered; without any qop the old form of RFC 2069 is answered.
    var hasQop: Bool
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
      default: return nil
      }
      namesAlgorithm = challenge.parameters["algorithm"] != nil
      if let offered = challenge.parameters["qop"] {
        let words = offered.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        guard words.contains("auth") else { return nil }
        hasQop = true
      } else {
        hasQop = false
      }
      isStale = challenge.parameters["stale"]?.lowercased() == "true"
      hashesUser = challenge.parameters["userhash"]?.lowercased() == "true"
    }

    /// The strongest of those that can be answered: SHA-256 before MD5, else the server's order.
    static func best(of challenges: [AuthChallenge]) -> Challenge? {
      let possible = challenges.compactMap { Challenge($0) }
      return possible.first { $0.algorithm.digest == .sha256 } ?? possible.first
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
    if challenge.hasQop {
      parts.append("nc=\(hexCount)")
      parts.append("cnonce=\(Self.quoted(clientNonce))")
      parts.append("qop=auth")
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
    let second = try hash("\(method):\(target)", challenge)
    guard challenge.hasQop else { return try hash("\(first):\(challenge.nonce):\(second)", challenge) }
    return try hash("\(first):\(challenge.nonce):\(hexCount):\(clientNonce):auth:\(second)", challenge)
  }

  private var hexCount: String {
    let digits = String(count, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  private func hash(_ text: String, _ challenge: Challenge) throws(HTTPError) -> String {
    try Digest.of(Array(text.utf8), challenge.algorithm.digest).hex
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
