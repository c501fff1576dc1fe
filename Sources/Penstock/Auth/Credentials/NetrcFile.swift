import Glibc
public import StreamCore

/// User names and passwords by host, as curl and ftp keep them in `~/.netrc`.
///
/// Understood are `machine`, `default`, `login`, `password`, `account` (skipped), `macdef` (skipped up to the
/// next empty line), comments behind `#` at the begin of a word, and words in double quotes with the escapes
/// `\"`, `\\`, `\n`, `\r` and `\t`.
public struct NetrcFile: Sendable, CustomStringConvertible, CustomReflectable {
  /// What stands under one `machine`.
  public struct Entry: Sendable, CustomStringConvertible, CustomReflectable {
    /// The host in small letters; nil for `default`.
    public let machine: String?
    /// The user name; empty where there is none.
    public let login: String
    /// The password; empty where there is none.
    public let password: String

    /// The host alone.
    public var description: String { "netrc entry of \(machine ?? "default")" }
    /// The host alone.
    public var customMirror: Mirror { Mirror(self, children: ["machine": machine ?? "default"]) }
  }

  /// The entries in their order.
  public let entries: [Entry]

  /// The text of such a file. What isn't understood is skipped.
  public init(parsing text: String) { entries = NetrcParser.parse(Array(text.utf8)) }

  /// A file that was named: throws `HTTPError.Kind.readFailed` when it isn't there or can't be read.
  public init(path: String) throws(HTTPError) {
    guard let contents = try SmallFile.read(path) else {
      throw SmallFile.failure(path, "there is no such file")
    }
    entries = NetrcParser.parse(contents.bytes)
  }

  /// The user's own: `$NETRC`, else `.netrc` in the home directory. One that isn't there has no entries; throws
  /// `HTTPError.Kind.readFailed` when it is there and can't be read.
  public static func standard() throws(HTTPError) -> NetrcFile {
    let path: String
    if let named = getenv("NETRC"), named.pointee != 0 {
      path = String(cString: named)
    } else if let home = getenv("HOME"), home.pointee != 0 {
      path = String(cString: home) + "/.netrc"
    } else {
      return NetrcFile(parsing: "")
    }
    guard let contents = try SmallFile.read(path) else { return NetrcFile(parsing: "") }
    return NetrcFile(parsing: String(decoding: contents.bytes, as: UTF8.self))
  }

  /// The first entry of a host, else the first `default`.
  ///
  /// - Parameters:
  ///   - host: in any case, an IPv6 address with or without brackets.
  ///   - login: only entries of this user.
  ///   - allowsDefault: whether `default` counts.
  public func entry(for host: String, login: String? = nil, allowsDefault: Bool = true) -> Entry? {
    func bare(_ host: String) -> String { host.lowercased().filter { $0 != "[" && $0 != "]" } }
    let host = bare(host)
    func fits(_ entry: Entry) -> Bool { login == nil || entry.login == login }
    return entries.first { $0.machine.map(bare) == host && fits($0) }
      ?? (allowsDefault ? entries.first { $0.machine == nil && fits($0) } : nil)
  }

  /// How many entries there are.
  public var description: String { "netrc of \(entries.count) entries" }
  /// Nothing of the entries.
  public var customMirror: Mirror { Mirror(self, children: ["count": entries.count]) }
}

/// Splits a netrc text into entries.
struct NetrcParser {
  private var rest: ArraySlice<UInt8>

  static func parse(_ bytes: [UInt8]) -> [NetrcFile.Entry] {
    var parser = NetrcParser(rest: bytes[...])
    return parser.run()
  }

  private mutating func run() -> [NetrcFile.Entry] {
    var entries: [NetrcFile.Entry] = []
    var machine: String??
    var login = ""
    var password = ""
    func finished() -> [NetrcFile.Entry] {
      guard let machine else { return [] }
      return [NetrcFile.Entry(machine: machine?.lowercased(), login: login, password: password)]
    }
    while let word = nextWord() {
      switch word {
      case "machine", "default":
        entries += finished()
        login = ""
        password = ""
        machine = word == "default" ? .some(nil) : nextWord().map { .some($0) }
      case "login", "user": login = nextWord() ?? ""
      case "password", "passwd": password = nextWord() ?? ""
      case "account": _ = nextWord()
      case "macdef": skipMacro()
      default: break
      }
    }
    return entries + finished()
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private mutating func nextWord() -> String? {
    while true {
      rest = rest.drop(while: Self.isBlank)
      guard let first = rest.first else { return nil }
      if first == UInt8(ascii: "#") {
        rest = rest.drop { $0 != 0x0A }
        continue
      }
      return first == UInt8(ascii: "\"") ? quotedWord() : plainWord()
    }
  }

  private mutating func plainWord() -> String {
    let word = rest.prefix { !Self.isBlank($0) }
    rest = rest.dropFirst(word.count)
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func quotedWord() -> String {
    rest.removeFirst()
    var word: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { break }
      guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
        word.append(byte)
        continue
      }
      switch escaped {
      case UInt8(ascii: "n"): word.append(0x0A)
      case UInt8(ascii: "r"): word.append(0x0D)
      case UInt8(ascii: "t"): word.append(0x09)
      default: word.append(escaped)
      }
    }
    return String(decoding: word, as: UTF8.self)
  }

  /// A macro lasts up to the next empty line.
  private mutating func skipMacro() {
    var lineIsEmpty = false
    while let byte = rest.popFirst() {
      if byte == 0x0A {
        if lineIsEmpty { return }
        lineIsEmpty = true
      } else if byte != 0x0D {
        lineIsEmpty = false
      }
    }
  }
}
