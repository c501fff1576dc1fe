import Penstock

/// One line for people. That it can't be written is nothing to tell anybody.
enum StandardError {
  static func tell(_ message: String) { say("penstock: " + message) }

  /// The line as it is, but for what a terminal would act on.
  static func say(_ line: String) {
    try? DescriptorWriter.standardError.write(PlainText.oneLine(line) + "\n")
  }
}
