/// What an error page tells beyond its status: the text between its tags, without what the status line has said.
enum ErrorExcerpt {
  /// `answer`: status and reason, "404 Not Found". Empty when the page says no more than these.
  static func of(_ page: String, answer: String) -> String {
    let text = PlainText.of(isMarkup(page) ? withoutTags(page) : page)
    let said = Set(words(answer) + ["status", "error", "code", "http", "title"])
    return words(text).allSatisfy(said.contains) ? "" : text
  }

  private static func isMarkup(_ page: String) -> Bool {
    page.unicodeScalars.first { !$0.properties.isWhitespace } == "<"
  }

  /// A tag that the excerpt cuts off ends it.
  private static func withoutTags(_ page: String) -> String {
    var text = String.UnicodeScalarView()
    var isInTag = false
    for scalar in page.unicodeScalars {
      switch scalar {
      case "<":
        isInTag = true
        text.append(" ")
      case ">": isInTag = false
      default: if !isInTag { text.append(scalar) }
      }
    }
    return String(text)
  }

  private static func words(_ text: String) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
