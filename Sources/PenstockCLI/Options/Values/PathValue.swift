/// A path: anything but nothing.
enum PathValue {
  /// The room in `sockaddr_un`, less the final NUL.
  private static let longestSocketPath = 107

  static func parse(_ text: String) throws(UsageError) -> String {
    guard !text.isEmpty else { throw UsageError("a file name is missing") }
    return text
  }

  static func parseSocket(_ text: String) throws(UsageError) -> String {
    guard text.utf8.count <= longestSocketPath else {
      throw UsageError("the path of a socket can't be longer than \(longestSocketPath) bytes")
    }
    return try parse(text)
  }
}
