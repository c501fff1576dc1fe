/// What slashes in a segment mean.
public enum PathSlashes: Sendable, Hashable {
  /// They separate segments: `path("a/b")` is `/a/b`. Slashes at the ends and double ones count for nothing.
  case split
  /// They belong to the segment, and are encoded: `path("a/b", slashes: .keep)` is `/a%2Fb`.
  case keep
}

/// A path under construction: encoded segments, each begun by one slash. The first thing that went wrong is
/// kept, and thrown when the request is made.
struct PathText: Sendable {
  private(set) var text = ""
  private(set) var failure: HTTPError?
  /// Whether the path ends in a slash.
  var endsInSlash = false

  mutating func append(_ value: any URLValue, slashes: PathSlashes = .split) {
    guard let written = value.urlText else {
      return fail(.encodingFailed, "the path segment \(value) of type \(type(of: value)) can't be written")
    }
    if Self.isPlain(written) {
      add(written)
      endsInSlash = false
      return
    }
    let text = slashes == .keep ? written : Self.trimmed(written)
    if let component = Self.climbing(text) {
      return fail(
        .invalidURL, "the path segment \"\(written)\" holds \"\(component)\", which names another directory")
    }
    if text.isEmpty {
      return fail(.invalidURL, "a path segment is empty, which would ask for another resource")
    }
    switch slashes {
    case .keep: add(PercentEncoder.encode(text))
    case .split:
      for segment in text.split(separator: "/") { add(PercentEncoder.encode(String(segment))) }
    }
    endsInSlash = false
  }

  /// Adds text that is percent-encoded already, as a template gives it.
  mutating func append(encoded: some StringProtocol) {
    if let component = Self.climbing(PercentEncoder.decode(encoded)) {
      return fail(
        .invalidURL, "the path \"\(encoded)\" holds \"\(component)\", which names another directory")
    }
    for segment in encoded.split(separator: "/") { add(String(segment)) }
    endsInSlash = encoded.hasSuffix("/")
  }

  mutating func append(_ other: PathText) {
    if failure == nil { failure = other.failure }
    text += other.text
    endsInSlash = other.endsInSlash
  }

  mutating func fail(_ error: HTTPError) {
    if failure == nil { failure = error }
  }

  private mutating func add(_ encoded: String) {
    text += "/"
    text += encoded
  }

  private mutating func fail(_ kind: HTTPError.Kind, _ message: String) {
    fail(
      HTTPError(
        kind, phase: .queue, message: message, advice: "Give a segment's name alone; `/` separates segments"))
  }

  /// Whether a text is one segment as it stands, with nothing to encode: most are.
  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(PercentEncoding.isUnreserved) && text != "." && text != ".."
  }

  private static func trimmed(_ text: String) -> String {
    var trimmed = Substring(text)
    while trimmed.first?.isWhitespace == true { trimmed.removeFirst() }
    while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
    return String(trimmed)
  }

  /// The first `.` or `..` between slashes of either kind (RFC 3986 §5.2.4: they would be taken out, with the
  /// segment before).
  private static func climbing(_ text: String) -> String? {
    text.split(whereSeparator: { $0 == "/" || $0 == "\\" })
      .first { $0 == "." || $0 == ".." }.map(String.init)
  }
}
