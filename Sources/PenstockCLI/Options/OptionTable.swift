/// Every option there is or will be; parsing and help both come from here.
enum OptionTable {
  static let all: [Option] =
    request + body + identity + response + streams + retry + output + time + connection + proxies + security
    + tls + files
    + download + many + batch + general + http

  private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byLetter = Dictionary(
    all.compactMap { option in option.letter.map { ($0, option) } }, uniquingKeysWith: { first, _ in first })

  static func option(named name: String) -> Option? { byName[name] }
  static func option(lettered letter: Character) -> Option? { byLetter[letter] }

  /// What to say beside "unknown option": the nearest name that could be meant, or why there is no such option.
  static func hint(forName name: String) -> String? {
    switch name {
    case "location": return "redirects are followed by default; see --max-redirs"
    case "no-buffer", "show-error": return "that is always on"
    default:
      let names = all.map(\.name)
      return NearestWord.nearest(to: name, among: names).map { "did you mean --\($0)?" }
    }
  }

  static func hint(forLetter letter: Character) -> String? {
    switch letter {
    case "L": hint(forName: "location")
    case "N", "S": hint(forName: "no-buffer")
    default: nil
    }
  }
}
