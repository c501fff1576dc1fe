import Penstock

extension OptionTable {
  static let credentials: [Option] = [
    .value("u", "user", "USER:PASSWORD", .identity, "Basic authentication; with --digest that") {
      settings, text throws(UsageError) in
      guard let colon = text.firstIndex(of: ":") else { throw UsageError("USER:PASSWORD is needed") }
      settings.authorization = .basic(
        user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    },
    .flag(nil, "digest", .identity, "Prove -u by digest authentication") { $0.credentials.usesDigest = true },
    .value(nil, "bearer", "TOKEN", .identity, "Bearer authentication") { settings, text throws(UsageError) in
      guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw UsageError("a token is printable ASCII without blanks")
      }
      settings.authorization = .bearer(token: text)
    },
    .flag(nil, "netrc", .identity, "User and password by host from ~/.netrc") {
      $0.credentials.usesNetrc = true
    },
    .value(nil, "netrc-file", "FILE", .identity, "The same from this file") {
      settings, text throws(UsageError) in
      settings.credentials.netrcFile = try PathValue.parse(text)
    },
    .value(nil, "aws-sigv4", "PROVIDER", .identity, "Sign for AWS with -u KEY:SECRET; aws:amz:REGION:SERVICE")
    {
      settings, text throws(UsageError) in
      guard (1...4).contains(text.split(separator: ":", omittingEmptySubsequences: false).count),
        text.first != ":", !text.isEmpty
      else { throw UsageError("\(UsageError.quote(text)) is not aws:amz:REGION:SERVICE") }
      settings.credentials.awsProvider = text
    },
  ]
}
