/// How many columns text takes on a terminal.
enum TextColumns {
  static func count(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
  }

  /// The text with what a terminal would act on replaced.
  static func printable(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        shown.append("?")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// As much of the text as fits, its end given by `..` where it was cut.
  static func cut(_ text: String, to columns: Int) -> String {
    if count(text) <= columns { return text }
    if columns <= 2 { return String(repeating: ".", count: max(0, columns)) }
    var shown = String.UnicodeScalarView()
    var used = 0
    for scalar in text.unicodeScalars {
      let width = width(of: scalar)
      if used + width > columns - 2 { break }
      shown.append(scalar)
      used += width
    }
    return String(shown) + ".."
  }

  /// The text with blanks after it, or before it, up to so many columns.
  static func padded(_ text: String, to columns: Int, left: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, columns - count(text)))
    return left ? blanks + text : text + blanks
  }

  /// The text without blanks at its end.
  static func trimmed(_ text: String) -> String {
    var text = Substring(text)
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  private static func width(of scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1B000...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }
}
