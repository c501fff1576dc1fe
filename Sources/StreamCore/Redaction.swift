/// What must not reach a log, an error text or an exported command (DESIGN §2 rule 13).
package enum Redaction {
  /// What stands in place of a secret.
  package static let mark = "…"

  private static let secretFields: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token",
    "x-amz-security-token", "x-access-token", "x-csrf-token", "authentication-info",
  ]

  private static let secretQueryNames: Set<String> = [
    "token", "access_token", "refresh_token", "id_token", "api_key", "apikey", "key", "sig", "signature",
    "password", "passwd", "secret", "client_secret", "code", "auth", "x-amz-signature", "x-amz-credential",
    "x-amz-security-token", "x-goog-signature", "x-goog-credential",
  ]

  /// Whether a header field of this name carries a secret.
  package static func isSecretField(_ name: String) -> Bool { secretFields.contains(name.lowercased()) }

  /// A URL without user info and with the values of secret query items cut. Any text is taken, valid or not.
  package static func url(_ text: String) -> String {
    var text = text[...]
    var prefix = ""
    if let scheme = text.firstRange(ofPattern: "://") {
      let rest = text[scheme.upperBound...]
      let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
      let authority = rest[..<authorityEnd]
      prefix = String(text[..<scheme.upperBound])
      if let at = authority.lastIndex(of: "@") {
        text = rest[authority.index(after: at)...]
        prefix += "\(mark)@"
      } else {
        text = rest
      }
    }
    guard let question = text.firstIndex(of: "?") else { return prefix + text }
    let fragment = text[question...].firstIndex(of: "#") ?? text.endIndex
    let query = text[text.index(after: question)..<fragment]
    let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
      guard let equals = item.firstIndex(of: "="), secretQueryNames.contains(item[..<equals].lowercased())
      else { return String(item) }
      return item[...equals] + mark
    }
    return prefix + text[...question] + items.joined(separator: "&") + text[fragment...]
  }
}

extension Substring {
  /// The first place of an ASCII pattern; Foundation's search isn't here.
  fileprivate func firstRange(ofPattern pattern: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(pattern) {
        return start..<index(start, offsetBy: pattern.count)
      }
      start = index(after: start)
    }
    return nil
  }
}
