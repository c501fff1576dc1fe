extension OptionTable {
  static let streams: [Option] = [
    .value(nil, "max-line", "BYTES[k|M|G]", .response, "Fail when a line or event is longer (default 16M)") {
      settings, text throws(UsageError) in
      settings.maximumLine = try ByteCountValue.parse(text)
    },
    .flag(nil, "ndjson", .response, verbs: [.lines], "Check and re-print each JSON value, compactly") {
      $0.readsJSONLines = true
    },
    .flag(nil, "no-reconnect", .response, verbs: [.sse], "End when the stream ends") {
      $0.reconnects = false
    },
  ]
}
