/// One entry of the option table: how it is written, what it says in help, where it belongs and what it does.
struct Option: Sendable {
  /// The heading it stands under in help.
  enum Group: String, CaseIterable, Sendable {
    case request = "Request"
    case body = "Request body"
    case identity = "Identity"
    case output = "Output"
    case response = "Response"
    case retries = "Retries"
    case time = "Time limits"
    case connection = "Connection"
    case security = "Security"
    case files = "Files"
    case many = "Many requests"
    case general = "General"
  }

  enum Action: Sendable {
    case flag(@Sendable (inout Settings) -> Void)
    case value(@Sendable (inout Settings, String) throws(UsageError) -> Void)
    case help
    case version
  }

  let letter: Character?
  let name: String
  let placeholder: String?
  let help: String
  let group: Group
  let verbs: Set<Verb>
  let action: Action

  /// An option without a value.
  static func flag(
    _ letter: Character?, _ name: String, _ group: Group, verbs: Set<Verb> = .requesting, _ help: String,
    _ apply: @escaping @Sendable (inout Settings) -> Void
  ) -> Option {
    Option(
      letter: letter, name: name, placeholder: nil, help: help, group: group, verbs: verbs,
      action: .flag(apply))
  }

  /// An option that takes a value.
  static func value(
    _ letter: Character?, _ name: String, _ placeholder: String, _ group: Group,
    verbs: Set<Verb> = .requesting, _ help: String,
    _ apply: @escaping @Sendable (inout Settings, String) throws(UsageError) -> Void
  ) -> Option {
    Option(
      letter: letter, name: name, placeholder: placeholder, help: help, group: group, verbs: verbs,
      action: .value(apply))
  }

  /// How help writes it: `-X, --request METHOD`.
  var usage: String {
    let short = letter.map { "-\($0), " } ?? "    "
    return short + "--\(name)" + (placeholder.map { " \($0)" } ?? "")
  }
}
