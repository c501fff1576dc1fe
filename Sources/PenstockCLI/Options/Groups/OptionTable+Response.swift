extension OptionTable {
  static let response: [Option] = [
    .flag(nil, "compressed", .response, "Ask for a coded body and decode it (default, but for download)") {
      $0.compressed = true
    },
    .flag(nil, "no-compressed", .response, "Neither ask for nor decode content codings") {
      $0.compressed = false
    },
    .value(nil, "max-body", "BYTES[k|M|G]", .response, "Fail when the decoded body is larger") {
      settings, text throws(UsageError) in
      settings.maximumBody = try ByteCountValue.parse(text)
    },
    .flag("f", "fail", .response, "Exit 22 on a status other than 2xx, without the body") {
      $0.failsOnStatus = true
    },
  ]

  static let output: [Option] = [
    .value("o", "output", "FILE", .output, verbs: [.get, .download], "Write to this file") {
      settings, text throws(UsageError) in
      settings.namesStandardOutput = text == "-"
      settings.output = text == "-" ? .standardOutput : .file(try PathValue.parse(text))
    },
    .value(
      nil, "body", "base64|text|none", .output, verbs: [.events, .batch],
      "Show the body's bytes in the events, or leave its events out"
    ) { settings, text throws(UsageError) in
      settings.bodyDisplay = try ChoiceValue.parse(text)
    },
    .flag("i", "include", .output, "Print the response's head before the body") {
      $0.includesHead = true
    },
    .flag("v", "verbose", .output, "Tell on standard error what happens, secrets cut") {
      $0.isVerbose = true
    },
    .flag("s", "silent", .output, "No progress and no messages") { $0.isSilent = true },
    .value(
      nil, "progress", "auto|bar|json|none", .output, verbs: [.download, .batch],
      "Bars or lines on stderr (default), JSON lines on stdout, or nothing"
    ) { settings, text throws(UsageError) in
      settings.progress = try ChoiceValue.parse(text)
    },
  ]
}
