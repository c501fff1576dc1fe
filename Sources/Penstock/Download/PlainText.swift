/// Text of a server for one line of an error: no line ends, no controls that a terminal would obey, none that
/// turn the direction of writing.
enum PlainText {
  static func of(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .format: continue
      case .control, .lineSeparator, .paragraphSeparator: scalars.append(" ")
      default: scalars.append(scalar)
      }
    }
    return String(scalars).split(separator: " ").joined(separator: " ")
  }
}
