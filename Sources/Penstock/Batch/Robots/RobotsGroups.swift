/// Reads the lines of a robots.txt and keeps the records of the groups that are meant.
struct RobotsGroups {
  enum Name {
    case userAgent, allow, disallow, crawlDelay
  }

  typealias Record = (name: Name, value: ArraySlice<UInt8>)

  private let token: [UInt8]
  private var own: [Record] = []
  private var common: [Record] = []
  /// Whether any group names the robot, even one without a record.
  private var isNamed = false
  /// Whether the lines now read are for it, or for all.
  private var isForOwn = false
  private var isForAll = false
  /// Agents may follow each other; the first record after them ends their list.
  private var isInAgents = false

  init(token: [UInt8]) { self.token = token }

  /// Those that hold for the robot.
  var records: [Record] { isNamed ? own : common }

  mutating func read(_ line: ArraySlice<UInt8>) {
    let line = line.prefix { $0 != UInt8(ascii: "#") }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
    let value = FieldSyntax.trimmed(line[(colon + 1)...])
    // Other records, such as Sitemap, belong to no group.
    guard let name = Self.name(FieldSyntax.trimmed(line[..<colon])) else { return }
    if name == .userAgent {
      if !isInAgents { (isForOwn, isForAll) = (false, false) }
      isInAgents = true
      if value.first == UInt8(ascii: "*") { isForAll = true }
      if !token.isEmpty, RobotsRules.token(value) == token { (isForOwn, isNamed) = (true, true) }
      return
    }
    isInAgents = false
    if isForOwn { own.append((name, value)) }
    if isForAll { common.append((name, value)) }
  }

  private static func name(_ text: ArraySlice<UInt8>) -> Name? {
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "user-agent": .userAgent
    case "allow": .allow
    case "disallow": .disallow
    case "crawl-delay": .crawlDelay
    default: nil
    }
  }
}
