public import StreamCore

/// The field Content-Digest (RFC 9530): digests of the content as it is sent.
public enum ContentDigest {
  /// The value of the field for some bytes, such as `sha-256=:…:`.
  public static func field(
    of bytes: [UInt8], _ algorithms: [Digest.Algorithm] = [.sha256]
  ) throws(HTTPError) -> String {
    var members: [String] = []
    for algorithm in algorithms { members.append(member(try Digest.of(bytes, algorithm))) }
    return members.joined(separator: ", ")
  }

  static func field(
    of body: RequestBody, _ algorithms: [Digest.Algorithm]
  ) async throws(HTTPError) -> String? {
    var members: [String] = []
    for algorithm in algorithms {
      guard let digest = try await BodyDigest.of(body, algorithm) else { return nil }
      members.append(member(digest))
    }
    return members.joined(separator: ", ")
  }

  private static func member(_ digest: Digest) -> String {
    "\(digest.algorithm.rawValue)=:\(Base64.encode(digest.bytes)):"
  }

  /// Whether some bytes have the digests that a field tells. Nil when it tells none of an algorithm that is known
  /// and fit for it (SHA-256, SHA-512).
  public static func matches(_ field: String, _ bytes: [UInt8]) throws(HTTPError) -> Bool? {
    var isKnown = false
    for member in field.split(separator: ",") {
      let parts = member.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
      guard parts.count == 2, let algorithm = Digest.Algorithm(name: parts[0]),
        algorithm == .sha256 || algorithm == .sha512, parts[1].hasPrefix(":"), parts[1].hasSuffix(":"),
        parts[1].utf8.count > 2
      else { continue }
      isKnown = true
      let expected = Base64URL.decode(parts[1].dropFirst().dropLast())
      if try Digest.of(bytes, algorithm).bytes != expected { return false }
    }
    return isKnown ? true : nil
  }
}
