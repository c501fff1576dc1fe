extension OptionTable {
  /// What `batch` has of its own; `-j`, `--dir`, `--body` and `--progress` it shares with others.
  static let batch: [Option] = [
    .value(nil, "per-host", "N", .many, verbs: [.batch], "How many at a time to one host (default 8)") {
      settings, text throws(UsageError) in
      let count = try CountValue.parse(text)
      guard (1...10_000).contains(count) else { throw UsageError("between 1 and 10000 can be had") }
      settings.batch.perHost = count
    },
    .value(nil, "rate", "N", .many, verbs: [.batch], "Requests a second to one host (fractions allowed)") {
      settings, text throws(UsageError) in
      guard let rate = Double(text), rate.isFinite, rate >= 0.001, rate <= 1_000_000 else {
        throw UsageError("\(UsageError.quote(text)) is no number of requests a second")
      }
      settings.batch.rate = rate
    },
    .flag(nil, "adaptive", .many, verbs: [.batch], "Follow the hosts' latency and errors, up to --per-host") {
      $0.batch.isAdaptive = true
    },
    .value(
      nil, "order", "input|completion", .many, verbs: [.batch], "Order of the results (default completion)"
    ) { settings, text throws(UsageError) in
      settings.batch.order = try ChoiceValue.parse(text)
    },
    .flag(nil, "fail-fast", .many, verbs: [.batch], "Stop at the first failure") {
      $0.batch.failsFast = true
    },
    .flag(nil, "dedupe", .many, verbs: [.batch], "Ask for equal inputs once; each has its result") {
      $0.batch.joinsIdentical = true
    },
    .value(nil, "robots", "AGENT", .many, verbs: [.batch], "Heed each host's robots.txt as this robot") {
      settings, text throws(UsageError) in
      guard !text.isEmpty,
        text.utf8.allSatisfy({
          $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") || ($0 | 0x20) &- UInt8(ascii: "a") < 26
        })
      else { throw UsageError("\(UsageError.quote(text)) is no robot's name: letters, \"_\" and \"-\"") }
      settings.batch.robots = text
    },
    .value(nil, "state", "FILE", .many, verbs: [.batch], "Remember what succeeded; a re-run leaves it out") {
      settings, text throws(UsageError) in
      settings.batch.state = try PathValue.parse(text)
    },
    .value(nil, "report", "FILE.html", .many, verbs: [.batch], "Write a page about the run when it ends") {
      settings, text throws(UsageError) in
      settings.batch.report = try PathValue.parse(text)
    },
  ]
}
