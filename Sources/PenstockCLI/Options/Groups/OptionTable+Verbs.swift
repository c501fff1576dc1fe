extension OptionTable {
  static let files: [Option] = [
    .later(nil, "dir", "DIR", .files, verbs: [.download, .batch], "Where files go"),
    .later("O", "remote-name", .files, verbs: [.download], "Name the file after the URL"),
    .later(
      nil, "overwrite", "never|rename|replace", .files, verbs: [.download], "What to do when a file exists"),
    .later("C", "continue", .files, verbs: [.download], "Continue an interrupted try (default)"),
    .later(nil, "no-continue", .files, verbs: [.download], "Start afresh"),
    .later(nil, "segments", "N|auto", .files, verbs: [.download], "Load in N parts at a time"),
    .later(nil, "mirror", "URL", .files, verbs: [.download], "Another place that has the file"),
    .later(nil, "checksum", "ALG=HEX", .files, verbs: [.download], "Verify the file"),
    .later(nil, "remote-time", .files, verbs: [.download], "Give the file the server's time"),
  ]

  static let many: [Option] = [
    .later("j", "parallel", "N", .many, verbs: [.download, .batch], "How many at a time"),
    .later(nil, "per-host", "N", .many, verbs: [.batch], "How many at a time to one host (default 8)"),
    .later(nil, "rate", "N", .many, verbs: [.batch], "Requests a second to one host"),
    .later(nil, "adaptive", .many, verbs: [.batch], "Follow latency and errors"),
    .later(nil, "order", "input|completion", .many, verbs: [.batch], "Order of the results"),
    .later(nil, "fail-fast", .many, verbs: [.batch], "Stop at the first failure"),
    .later(nil, "dedupe", .many, verbs: [.batch], "Ask for equal inputs once"),
    .later(nil, "state", "FILE", .many, verbs: [.batch], "Remember what succeeded"),
  ]

  static let general: [Option] = [
    Option(
      letter: "h", name: "help", placeholder: nil, help: "Show this help", group: .general,
      verbs: Set(Verb.allCases), availability: .now, action: .help),
    Option(
      letter: "V", name: "version", placeholder: nil, help: "Show the versions in use", group: .general,
      verbs: Set(Verb.allCases), availability: .now, action: .version),
  ]
}
