import StreamCore

/// The computation of AWS's Signature Version 4: canonical request, string to sign, signature. Pure.
struct AWSSignature: Sendable {
  var keyID: String
  var secret: String
  var region: String
  var service: String
  /// `20150830T123600Z`.
  var time: String
  /// Who invented it: "aws", in the scheme, the key and the scope. Others have copied it under their own names.
  var provider = "aws"

  /// What is signed of a request.
  struct Canonical: Sendable {
    var method: String
    /// The path as it stands in the URL.
    var path: String
    /// The query as it stands in the URL.
    var query: String
    /// Name and value of each field.
    var fields: [(name: String, value: String)]
    /// In hexadecimal digits, or a word such as UNSIGNED-PAYLOAD.
    var payload: String
    /// S3 takes paths as they are; all others want them encoded once more.
    var encodesPathTwice: Bool

    /// The names that are signed, in small letters.
    var signedNames: String { merged.map(\.name).joined(separator: ";") }

    /// Fields by name, repeats joined, blanks folded.
    private var merged: [(name: String, value: String)] {
      var values: [String: [String]] = [:]
      for field in fields { values[field.name.lowercased(), default: []].append(Self.folded(field.value)) }
      return values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        .map { ($0, (values[$0] ?? []).joined(separator: ",")) }
    }

    private static func folded(_ value: String) -> String {
      value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }

    /// The text of the canonical request.
    var text: String {
      let fields = merged
      let lines = fields.map { "\($0.name):\($0.value)\n" }.joined()
      return [method, canonicalPath, canonicalQuery, lines, signedNames, payload].joined(separator: "\n")
    }

    var canonicalPath: String {
      // Segment by segment: an encoded slash is none.
      let once = path.split(separator: "/", omittingEmptySubsequences: false)
        .map { PercentEncoding.encode(PercentEncoding.decode($0)) }.joined(separator: "/")
      let path =
        encodesPathTwice
        ? PercentEncoding.encode(
          once.utf8, keeping: { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }) : once
      return path.isEmpty ? "/" : path
    }

    /// Items sorted by name, then value, in bytes, after encoding.
    var canonicalQuery: String {
      query.split(separator: "&").map { item -> (name: String, value: String) in
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        func encoded(_ text: Substring) -> String { PercentEncoding.encode(PercentEncoding.decode(text)) }
        return (encoded(parts[0]), parts.count > 1 ? encoded(parts[1]) : "")
      }
      .sorted {
        $0.name == $1.name
          ? $0.value.utf8.lexicographicallyPrecedes($1.value.utf8)
          : $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
      }
      .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
  }

  var date: String { String(time.prefix(8)) }
  var scope: String { "\(date)/\(region)/\(service)/\(provider)4_request" }

  /// The signature in hexadecimal digits.
  func signature(of canonical: Canonical) throws(HTTPError) -> String {
    let digest = try Digest.of(Array(canonical.text.utf8), .sha256).hex
    let text = "\(provider.uppercased())4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)"
    var key = Array("\(provider.uppercased())4\(secret)".utf8)
    for part in [date, region, service, "\(provider)4_request"] {
      key = try HMACSHA256.authenticate(Array(part.utf8), key: key)
    }
    return HexDigits.encode(try HMACSHA256.authenticate(Array(text.utf8), key: key))
  }

  /// The value of the Authorization field.
  func field(for canonical: Canonical) throws(HTTPError) -> String {
    "\(provider.uppercased())4-HMAC-SHA256 Credential=\(keyID)/\(scope), SignedHeaders=\(canonical.signedNames), Signature="
      + (try signature(of: canonical))
  }

  /// `20150830T123600Z` from seconds since 1970.
  static func time(_ secondsSinceEpoch: Int64) -> String {
    // "Sun, 30 Aug 2015 12:36:00 GMT" has all there is to know.
    let words = HTTPDate(secondsSinceEpoch: secondsSinceEpoch).description.split(separator: " ")
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let month = (months.firstIndex(of: String(words[2])) ?? 0) + 1
    return "\(words[3])\(month < 10 ? "0" : "")\(month)\(words[1])T\(words[4].filter { $0 != ":" })Z"
  }
}
