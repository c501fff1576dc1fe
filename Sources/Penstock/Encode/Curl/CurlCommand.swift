/// A curl command being put together: options in curl's spelling, each value with what is shown in its place where it
/// is a secret.
package struct CurlCommand: Sendable {
  private var words: [(plain: String, shown: String)] = [("curl", "curl")]

  package init() {}

  /// Adds an option without a value.
  package mutating func flag(_ option: String) { words.append((option, option)) }

  /// Adds an option with its value; `shown`: what stands there when secrets are cut.
  package mutating func option(_ name: String, _ value: String, shown: String? = nil) {
    words.append((name, name))
    words.append((value, shown ?? value))
  }

  /// Adds a header field in curl's spelling.
  package mutating func header(_ name: String, _ value: String, isSecret: Bool = false) {
    let hides = isSecret || Redaction.isSecretField(name)
    option(
      "-H", value.isEmpty ? name + ";" : "\(name): \(value)",
      shown: hides && !value.isEmpty ? "\(name): \(Redaction.mark)" : nil)
  }

  /// Adds a URL; one that begins with a dash or holds what curl would expand is kept as it is.
  package mutating func url(_ url: String) {
    if url.utf8.contains(where: { "[]{}".utf8.contains($0) }), !words.contains(where: { $0.plain == "-g" }) {
      flag("-g")
    }
    if url.hasPrefix("-") { return option("--url", url, shown: Redaction.url(url)) }
    words.append((url, Redaction.url(url)))
  }

  /// The command for a POSIX shell, on one line.
  package func text(showsSecrets: Bool) -> String {
    words.map { ShellWords.quoted(showsSecrets ? $0.plain : $0.shown) }.joined(separator: " ")
  }
}
