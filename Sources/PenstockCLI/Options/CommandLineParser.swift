import Penstock

/// Turns arguments into an invocation, in curl's manner: options anywhere, short ones bundled, `--` ends them.
struct CommandLineParser {
  /// What a command line asks for.
  enum Invocation: Sendable, Equatable {
    case run(Settings)
    /// Help for one verb, or for all.
    case help(Verb?)
    case version
  }

  private var settings = Settings()
  private var verb: Verb?
  private var operands: [String] = []
  private var used: [(option: Option, spelling: String)] = []
  private var wantsHelp = false
  private var wantsVersion = false
  private var rest: ArraySlice<String>

  private init(_ arguments: [String]) { rest = arguments[...] }

  /// Parses the arguments after the command's name.
  static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
    var parser = CommandLineParser(arguments)
    try parser.readAll()
    return try parser.finish()
  }

  private mutating func readAll() throws(UsageError) {
    while let argument = rest.popFirst() {
      if argument == "--" {
        while let operand = rest.popFirst() { try take(operand: operand) }
      } else if argument.hasPrefix("--") {
        try readLong(argument.dropFirst(2))
      } else if argument.hasPrefix("-"), argument != "-" {
        try readShort(argument.dropFirst())
      } else {
        try take(operand: argument)
      }
    }
  }

  private mutating func readLong(_ text: Substring) throws(UsageError) {
    let equals = text.firstIndex(of: "=")
    let name = String(text[..<(equals ?? text.endIndex)])
    let attached = equals.map { String(text[text.index(after: $0)...]) }
    guard let option = OptionTable.option(named: name) else {
      throw unknown("--" + name, hint: OptionTable.hint(forName: name))
    }
    if attached != nil, option.placeholder == nil {
      throw UsageError("--\(name) takes no value")
    }
    try apply(option, spelling: "--" + name, attached: attached)
  }

  private mutating func readShort(_ text: Substring) throws(UsageError) {
    // Scalars, not characters: a letter followed by a combining mark is still that letter.
    var letters = text.unicodeScalars
    while let scalar = letters.popFirst() {
      let letter = Character(scalar)
      guard let option = OptionTable.option(lettered: letter) else {
        throw unknown("-\(letter)", hint: OptionTable.hint(forLetter: letter))
      }
      guard option.placeholder != nil else {
        try apply(option, spelling: "-\(letter)", attached: nil)
        continue
      }
      return try apply(option, spelling: "-\(letter)", attached: letters.isEmpty ? nil : String(letters))
    }
  }

  private func unknown(_ spelling: String, hint: String?) -> UsageError {
    UsageError("unknown option \(UsageError.quote(spelling))" + (hint.map { " (\($0))" } ?? ""))
  }

  private mutating func apply(_ option: Option, spelling: String, attached: String?) throws(UsageError) {
    used.append((option, spelling))
    switch option.action {
    case .help: wantsHelp = true
    case .version: wantsVersion = true
    case .flag(let set):
      settings.http.given.all.append(.init(option: option, value: nil))
      set(&settings)
    case .value(let set):
      guard let text = attached ?? rest.popFirst() else {
        throw UsageError("\(spelling) needs a value: \(option.placeholder ?? "")")
      }
      guard !text.utf8.contains(0) else { throw UsageError("\(spelling): the value holds a NUL") }
      settings.http.given.all.append(.init(option: option, value: text))
      do { try set(&settings, text) } catch { throw error.about(spelling) }
    }
  }

  private mutating func take(operand: String) throws(UsageError) {
    guard verb != nil else {
      verb = try Self.verb(named: operand)
      return
    }
    operands.append(operand)
  }

  static func verb(named word: String) throws(UsageError) -> Verb {
    guard let verb = Verb(rawValue: word) else {
      let names = Verb.allCases.map(\.rawValue)
      var message = "unknown verb \(UsageError.quote(Redaction.url(word)))"
      if word.contains("://") {
        message += " (did you mean 'penstock get URL'?)"
      } else if let near = NearestWord.nearest(to: word, among: names) {
        message += " (did you mean \(near)?)"
      }
      throw UsageError(message)
    }
    return verb
  }

  private mutating func finish() throws(UsageError) -> Invocation {
    if verb == .help {
      try checkOptions(of: .help)
      if operands.count > 1 { throw UsageError("help takes one verb at most") }
      guard let word = operands.first else { return .help(nil) }
      return .help(try Self.verb(named: word))
    }
    if wantsHelp { return .help(verb) }
    if wantsVersion { return .version }
    guard let verb else { throw UsageError("no verb given; 'penstock help' tells what there is") }
    try checkOptions(of: verb)
    if verb.needsURL, operands.isEmpty { throw UsageError("\(verb.rawValue): a URL is missing") }
    if operands.count > verb.maximumOperands {
      throw UsageError(
        "\(verb.rawValue) takes one \(verb == .batch ? "file" : "URL"), not \(operands.count)")
    }
    settings.verb = verb
    settings.urls = operands
    try settings.checkTogether()
    return .run(settings)
  }

  private func checkOptions(of verb: Verb) throws(UsageError) {
    for (option, spelling) in used where !option.verbs.contains(verb) {
      throw UsageError("\(spelling) is not an option of \(verb.rawValue)")
    }
  }
}
