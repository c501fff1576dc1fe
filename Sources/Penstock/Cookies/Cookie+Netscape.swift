/// The Netscape cookie file format, one cookie a line: what curl, wget and browsers' exporters write.
extension Cookie {
  private static let httpOnlyMark = "#HttpOnly_"

  /// A line of a cookie file; nil for comments, blank lines and what can't be read.
  init?(netscapeLine text: some StringProtocol) {
    var line = Substring(text)
    while let last = line.unicodeScalars.last, last == "\r" || last == "\n" {
      line.unicodeScalars.removeLast()
    }
    let isHTTPOnly = line.hasPrefix(Self.httpOnlyMark)
    if isHTTPOnly { line = line.dropFirst(Self.httpOnlyMark.count) }
    if line.hasPrefix("#") { return nil }
    // By scalars: a tab followed by a combining mark is still a tab.
    let parts = line.unicodeScalars.split(
      separator: "\t", maxSplits: 6, omittingEmptySubsequences: false
    ).map { String($0) }
    guard parts.count >= 6, let expires = Int64(parts[4]) else { return nil }
    self.init(
      parts[5], parts.count > 6 ? parts[6] : "", domain: parts[0],
      includesSubdomains: parts[1].uppercased() == "TRUE", path: parts[2],
      isSecure: parts[3].uppercased() == "TRUE", isHTTPOnly: isHTTPOnly, expires: expires == 0 ? nil : expires
    )
    guard (try? check()) != nil else { return nil }
  }

  /// The line for it, without a line end.
  var netscapeLine: String {
    func word(_ flag: Bool) -> String { flag ? "TRUE" : "FALSE" }
    return [
      (isHTTPOnly ? Self.httpOnlyMark : "") + (includesSubdomains ? "." : "") + domain,
      word(includesSubdomains), path, word(isSecure), "\(expires ?? 0)", name, value,
    ].joined(separator: "\t")
  }
}
