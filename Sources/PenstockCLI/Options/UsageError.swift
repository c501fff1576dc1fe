import Penstock

/// The command line can't be understood: told in one line, exit status 2.
struct UsageError: Error, Equatable {
  let message: String

  init(_ message: String) { self.message = message }

  /// The same with the option that it is about, as the user wrote it.
  func about(_ option: String) -> UsageError { UsageError("\(option): \(message)") }

  /// User text fit for one line of a message: quoted, control characters shown, long text cut.
  static func quote(_ text: String) -> String {
    var shown = ""
    var count = 0
    for scalar in text.unicodeScalars {
      if count == 60 {
        shown += "..."
        break
      }
      shown.unicodeScalars.append(scalar)
      count += 1
    }
    return "'\(PlainText.oneLine(shown))'"
  }
}
