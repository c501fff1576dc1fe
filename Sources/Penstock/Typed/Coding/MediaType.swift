import StreamCore

/// A media type with its parameters (RFC 9110 §8.3.1).
struct MediaType: Sendable, Hashable {
  /// `application/json`, in small letters.
  let essence: String
  let parameters: [String: String]

  init?(_ text: String) {
    var parts: [Substring] = []
    var isQuoted = false
    var isEscaped = false
    var start = text.startIndex
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if character == "\\", isQuoted {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == ";", !isQuoted {
        parts.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    parts.append(text[start...])
    essence = FieldSyntax.trimmed(parts[0]).lowercased()
    let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2,
      halves.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(FieldSyntax.isTokenByte) })
    else { return nil }
    var parameters: [String: String] = [:]
    for part in parts.dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else { continue }
      var value = FieldSyntax.trimmed(pair[1])
      if value.hasPrefix("\""), value.hasSuffix("\""), value.count > 1 {
        value = String(value.dropFirst().dropLast()).replacing("\\\"", with: "\"")
      }
      let name = FieldSyntax.trimmed(pair[0]).lowercased()
      if parameters[name] == nil { parameters[name] = value }
    }
    self.parameters = parameters
  }

  /// Whether it is JSON: `application/json`, or any type that ends in `+json`.
  var isJSON: Bool { essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json") }

  /// Whether it is covered by a range: `application/json`, `text/*`, `*/*`, and `*/*+json` for a suffix.
  func matches(_ range: String) -> Bool {
    let range = (range.split(separator: ";").first.map(String.init) ?? "").lowercased()
    if range == "*/*" || range == essence { return true }
    let wanted = range.split(separator: "/")
    let halves = essence.split(separator: "/")
    guard wanted.count == 2, halves.count == 2 else { return false }
    let typeFits = wanted[0] == "*" || wanted[0] == halves[0]
    if wanted[1] == "*" { return typeFits }
    return typeFits && wanted[1].hasPrefix("*+") && halves[1].hasSuffix(wanted[1].dropFirst())
  }
}
