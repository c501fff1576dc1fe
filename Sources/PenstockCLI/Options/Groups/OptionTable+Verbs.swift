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
      verbs: Set(Verb.allCases), action: .help),
    Option(
      letter: "V", name: "version", placeholder: nil, help: "Show the versions in use", group: .general,
      verbs: Set(Verb.allCases), action: .version),
  ]
}
