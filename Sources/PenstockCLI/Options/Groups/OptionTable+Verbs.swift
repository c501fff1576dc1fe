extension OptionTable {
  static let files: [Option] = [
    .value(nil, "dir", "DIR", .files, verbs: [.download, .batch], "The folder that files go to") {
      settings, text throws(UsageError) in
      settings.directory = try PathValue.parse(text)
    },
    .flag("O", "remote-name", .files, verbs: [.download], "Name the file after the response or URL (default)")
    {
      $0.namesAfterRemote = true
    },
    .value(
      nil, "overwrite", "never|rename|replace", .files, verbs: [.download],
      "When the file exists: fail (default), add a number, or replace it"
    ) { settings, text throws(UsageError) in
      settings.overwrite = try ChoiceValue.parse(text)
    },
    .later("C", "continue", .files, verbs: [.download], "Continue an interrupted try (default)"),
    .flag(nil, "no-continue", .files, verbs: [.download], "Start afresh (now always so)") { _ in },
    .value(nil, "segments", "N|auto", .files, verbs: [.download], "Load in N parts at a time (now always 1)")
    {
      _, text throws(UsageError) in
      guard text != "auto" else { return }
      switch try CountValue.parse(text) {
      case 0: throw UsageError("there is at least 1")
      case 1: break
      default: throw UsageError("more than 1 is not supported yet")
      }
    },
    .later(nil, "mirror", "URL", .files, verbs: [.download], "Another place that has the file"),
    .later(nil, "checksum", "ALG=HEX", .files, verbs: [.download], "Verify the file"),
    .later(nil, "remote-time", .files, verbs: [.download], "Give the file the server's time"),
  ]

  static let many: [Option] = [
    .value(
      "j", "parallel", "N", .many, verbs: [.download, .batch], "How many at a time (default 4, batch 64)"
    ) {
      settings, text throws(UsageError) in
      let count = try CountValue.parse(text)
      guard (1...10_000).contains(count) else { throw UsageError("between 1 and 10000 can be had") }
      settings.parallel = count
    }
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
