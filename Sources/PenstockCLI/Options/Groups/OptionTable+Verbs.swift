extension OptionTable {
  static let files: [Option] = [
    .value(nil, "dir", "DIR", .files, verbs: [.download], "The folder that files go to, which must exist") {
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
    .value("j", "parallel", "N", .many, verbs: [.download], "How many at a time (default 4)") {
      settings, text throws(UsageError) in
      let count = try CountValue.parse(text)
      guard (1...1000).contains(count) else { throw UsageError("between 1 and 1000 can be had") }
      settings.parallel = count
    },
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
