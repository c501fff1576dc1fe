/// The Location field (RFC 9110 §10.2.2), and how a way along several is told.
enum RedirectTarget {
  private static let mostShown = 24
  private static let longestShown = 200

  /// Where the server points to. Bytes that aren't UTF-8 are percent-encoded one by one, as browsers do.
  static func location(_ head: ResponseHead) -> String? {
    guard let bytes = head.headers.rawValues("Location").first else { return nil }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return PercentEncoding.encode(bytes, keeping: { $0 < 0x80 })
  }

  /// The URLs of a chain, secrets cut; of a circle one round, of a very long way the first and the last.
  static func chain(_ urls: [String]) -> String {
    var seen: Set<String> = []
    let round = urls.prefix { seen.insert($0).inserted }
    let end = round.count + 1
    var shown = urls.prefix(end).map { url in
      let text = Redaction.url(url)
      return text.count > longestShown ? text.prefix(longestShown) + Redaction.mark : text
    }
    if end < urls.count { shown.append(Redaction.mark) }
    if shown.count > mostShown {
      shown = shown.prefix(mostShown / 2) + [Redaction.mark] + shown.suffix(mostShown / 2)
    }
    return shown.joined(separator: " → ")
  }
}
