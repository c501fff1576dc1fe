/// What a robots.txt says to one robot (RFC 9309).
public struct RobotsRules: Sendable, Hashable {
  private struct Rule: Sendable, Hashable {
    let allows: Bool
    let pattern: [UInt8]
  }

  private var rules: [Rule] = []
  private let fallback: Bool
  /// How long to wait between two requests, where the file has a Crawl-delay line (no part of the RFC) in the
  /// robot's group.
  public private(set) var crawlDelay: Duration?

  /// Everything is allowed: there is no robots.txt (RFC 9309 §2.3.1.3).
  public static let allowingAll = RobotsRules(fallback: true)
  /// Nothing is allowed: the server can't tell now (RFC 9309 §2.3.1.4).
  public static let forbiddingAll = RobotsRules(fallback: false)

  private init(fallback: Bool) { self.fallback = fallback }

  /// The rules of a file for a robot of this product token, taken without regard to case: those of all groups
  /// that name it, else of all groups for "*". Lines that can't be understood say nothing.
  public init(_ text: [UInt8], agent: String) {
    fallback = true
    let token = Self.token(Array(agent.utf8)[...])
    var reader = RobotsGroups(token: token)
    for line in Self.lines(text) { reader.read(line) }
    for (name, value) in reader.records {
      switch name {
      case .allow, .disallow:
        if !value.isEmpty {
          rules.append(Rule(allows: name == .allow, pattern: Self.normalized(value)))
        }
      case .crawlDelay:
        if let seconds = Double(String(decoding: value, as: UTF8.self)), seconds > 0, seconds < 1e6 {
          crawlDelay = max(crawlDelay ?? .zero, .seconds(seconds))
        }
      case .userAgent: break
      }
    }
  }

  /// Whether a path with its query may be asked for. The longest matching pattern decides, and of two of one
  /// length the one that allows; "/robots.txt" is always allowed (RFC 9309 §2.2.2).
  public func allows(path: String) -> Bool {
    guard fallback else { return path == "/robots.txt" }
    let path = Self.normalized(Array(path.utf8)[...])
    if path == Array("/robots.txt".utf8) { return true }
    var best: Rule?
    for rule in rules where Self.matches(rule.pattern, path) {
      guard let found = best else {
        best = rule
        continue
      }
      let isLonger = rule.pattern.count > found.pattern.count
      if isLonger || rule.pattern.count == found.pattern.count && rule.allows { best = rule }
    }
    return best?.allows ?? true
  }

  // MARK: text

  private static func lines(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
    let text = text.starts(with: ByteOrderMark.bytes) ? text.dropFirst(3) : text[...]
    return text.split { $0 == 0x0A || $0 == 0x0D }
  }

  /// Letters, "_" and "-" from the start on (RFC 9309 §2.2.1), in lower case.
  static func token(_ value: ArraySlice<UInt8>) -> [UInt8] {
    value.prefix { byte in
      byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
        || byte == UInt8(ascii: "-")
    }.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
  }

  /// One spelling for paths that mean the same (RFC 9309 §2.2.2): bytes beyond ASCII encoded, unreserved
  /// characters not, digits of escapes in upper case.
  private static func normalized(_ value: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var position = value.startIndex
    func put(_ byte: UInt8, escaped: Bool) {
      if escaped || byte >= 0x80 || byte <= 0x20 {
        PercentEncoding.append(byte, to: &result)
      } else {
        result.append(byte)
      }
    }
    while position < value.endIndex {
      let byte = value[position]
      if byte == UInt8(ascii: "%"), let decoded = PercentEncoding.value(of: value[(position + 1)...]) {
        put(decoded, escaped: !PercentEncoding.isUnreserved(decoded))
        position += 3
      } else {
        put(byte, escaped: false)
        position += 1
      }
    }
    return result
  }

  /// `*` stands for any bytes, `$` at the end for the end; else the pattern need only be a beginning. In time
  /// that is at most the product of both lengths.
  static func matches(_ pattern: [UInt8], _ path: [UInt8]) -> Bool {
    let isAnchored = pattern.last == UInt8(ascii: "$")
    let end = isAnchored ? pattern.count - 1 : pattern.count
    var (at, position) = (0, 0)
    var star: (at: Int, position: Int)?
    while true {
      if at == end, !isAnchored || position == path.count { return true }
      if at < end, pattern[at] == UInt8(ascii: "*") {
        star = (at, position)
        at += 1
      } else if at < end, position < path.count, pattern[at] == path[position] {
        at += 1
        position += 1
      } else if let last = star, last.position < path.count {
        star = (last.at, last.position + 1)
        at = last.at + 1
        position = last.position + 1
      } else {
        return false
      }
    }
  }
}
