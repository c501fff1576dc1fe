/// The argument of `-d` and its kin: the data itself, `@FILE` or `@-`.
enum DataValue {
  static func parse(_ text: String, cutsLineEnds: Bool, joins: Bool) throws(UsageError) -> Settings.DataPart {
    guard text.hasPrefix("@") else { return literal(text, joins: joins) }
    let source = try inputSource(String(text.dropFirst()))
    return Settings.DataPart(
      content: .input(source), cutsLineEnds: cutsLineEnds, joinsWithAmpersand: joins)
  }

  static func literal(_ text: String, joins: Bool) -> Settings.DataPart {
    Settings.DataPart(content: .text(text), cutsLineEnds: false, joinsWithAmpersand: joins)
  }

  static func inputSource(_ path: String) throws(UsageError) -> Settings.InputSource {
    path == "-" ? .standardInput : .file(try PathValue.parse(path))
  }
}
