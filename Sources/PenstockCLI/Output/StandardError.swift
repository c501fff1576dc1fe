/// One line for people. That it can't be written is nothing to tell anybody.
enum StandardError {
  static func tell(_ message: String) {
    try? DescriptorWriter.standardError.write("penstock: \(message)\n")
  }
}
