/// Text for people, who read it on a terminal or in a log.
package enum PlainText {
  /// The text on one line: what a terminal would act on, or what would begin a line of its own, is written as
  /// `\u{1b}`. Reasons, names and values come from peers.
  package static func oneLine(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if isShown(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return shown
  }

  /// Whether a scalar only shows itself. Format characters turn the direction of what follows.
  package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
    default: true
    }
  }
}
