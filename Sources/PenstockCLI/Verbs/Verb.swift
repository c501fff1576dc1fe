/// What the command can be told to do: its first word.
enum Verb: String, CaseIterable, Sendable {
  case get
  case events
  case lines
  case sse
  case download
  case batch
  case help

  /// What follows the verb, as help shows it.
  var operands: String {
    switch self {
    case .get, .download: "URL..."
    case .events, .lines, .sse: "URL"
    case .batch: "[FILE|-]"
    case .help: "[VERB]"
    }
  }

  /// The verb in a line of help.
  var summary: String {
    switch self {
    case .get: "Stream the decoded body to standard output as it arrives."
    case .events: "Print every event of the exchange as one JSON object a line."
    case .lines: "Print the body split into lines."
    case .sse: "Print server-sent events as one JSON object a line."
    case .download: "Download to files, with progress; no file is ever half there."
    case .batch: "Run many requests with bounded concurrency."
    case .help: "Show help, for one verb or for all."
    }
  }

  /// The most operands it takes.
  var maximumOperands: Int {
    switch self {
    case .get, .download: .max
    case .events, .lines, .sse, .batch, .help: 1
    }
  }

  /// Whether it needs a URL.
  var needsURL: Bool { self != .batch && self != .help }
}

extension Set<Verb> {
  /// Every verb that sends requests.
  static let requesting: Set<Verb> = [.get, .events, .lines, .sse, .download, .batch]
}
