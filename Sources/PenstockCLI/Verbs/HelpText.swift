/// Help, made from the table alone; no line is longer than 80 columns.
enum HelpText {
  private static let width = 80
  /// Where the explanations begin.
  private static let column = 34

  /// `penstock help VERB`, or `penstock help`.
  static func text(for verb: Verb?) -> String {
    guard let verb else { return overview }
    if verb == .help { return overview }
    var lines = ["Usage: penstock \(verb.rawValue) [OPTIONS] \(verb.operands)", "", verb.summary]
    let options = OptionTable.all.filter { $0.verbs.contains(verb) }
    for group in Option.Group.allCases {
      let members = options.filter { $0.group == group }
      if members.isEmpty { continue }
      lines += ["", group.rawValue + ":"]
      for option in members { lines += entry(option.usage, option.help) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static var overview: String {
    var lines = ["Usage: penstock VERB [OPTIONS] URL...", "", "Streams over HTTP.", "", "Verbs:"]
    for verb in Verb.allCases {
      lines += entry("\(verb.rawValue) \(verb.operands)", verb.summary)
    }
    lines += ["", "Options are listed by 'penstock help VERB' and 'penstock VERB --help'."]
    lines += ["'penstock --version' shows the versions in use."]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func entry(_ usage: String, _ explanation: String) -> [String] {
    var lines: [String] = []
    var line = "  " + usage
    if line.count > column - 2 {
      lines.append(line)
      line = ""
    }
    line += String(repeating: " ", count: column - line.count)
    var isFresh = true
    for word in explanation.split(separator: " ") {
      if !isFresh, line.count + 1 + word.count > width {
        lines.append(line)
        line = String(repeating: " ", count: column)
        isFresh = true
      }
      line += (isFresh ? "" : " ") + word
      isFresh = false
    }
    lines.append(line)
    return lines
  }
}
