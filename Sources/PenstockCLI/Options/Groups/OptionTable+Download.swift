import Penstock

extension OptionTable {
  static let download: [Option] = [
    .flag(
      "C", "continue", .files, verbs: [.download],
      "Continue an interrupted try even where the server can't say that nothing changed"
    ) { $0.download.continues = true },
    .flag(nil, "no-continue", .files, verbs: [.download], "Start afresh, whatever an earlier try has left") {
      $0.download.continues = false
    },
    .value(nil, "segments", "N|auto", .files, verbs: [.download], "Load so many ranges at once (default 1)") {
      settings, text throws(UsageError) in
      settings.download.segments = try SegmentsValue.parse(text)
    },
    .value(nil, "mirror", "URL", .files, verbs: [.download], "Another place that has the file (repeatable)") {
      settings, text throws(UsageError) in
      settings.download.mirrors.append(try MirrorValue.parse(text))
    },
    .value(
      nil, "checksum", "ALG=HEX", .files, verbs: [.download],
      "What the file must be: sha-256, sha-512, sha-1, md5"
    ) { settings, text throws(UsageError) in
      settings.download.checksum = try ChecksumValue.parse(text)
    },
    .flag(nil, "remote-time", .files, verbs: [.download], "Give the file the time that the server says") {
      $0.download.keepsRemoteTime = true
    },
  ]
}
