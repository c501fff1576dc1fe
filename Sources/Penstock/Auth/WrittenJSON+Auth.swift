import StreamCore

/// A JSON value (RFC 8259), for the few answers that authorization reads itself.
enum WrittenJSON: Sendable, Hashable {
  case null
  case bool(Bool)
  /// The digits as they came.
  case number(String)
  case string(String)
  case array([WrittenJSON])
  /// The first of equal names counts.
  case object([String: WrittenJSON])

  /// Nil for anything but one whole value, nested 64 deep at most.
  static func parse(_ bytes: [UInt8]) -> WrittenJSON? {
    var parser = JSONNodeParser(rest: bytes[...])
    return parser.whole()
  }

  /// What stands behind names joined by dots.
  func at(_ path: String) -> WrittenJSON? {
    // A name with a dot in it is taken as a whole first.
    guard case .object(let members) = self else { return nil }
    if let member = members[path] { return member }
    guard let dot = path.firstIndex(of: ".") else { return nil }
    return members[String(path[..<dot])]?.at(String(path[path.index(after: dot)...]))
  }

  /// The text of a string that isn't empty.
  var text: String? {
    guard case .string(let text) = self, !text.isEmpty else { return nil }
    return text
  }

  /// A whole number, also one in a string or with a fraction, which is cut.
  var integer: Int64? {
    switch self {
    case .number(let digits), .string(let digits):
      return Int64(digits) ?? Double(digits).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    default: return nil
    }
  }

  /// The text with sorted names and without blanks.
  var sorted: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let digits): digits
    case .string(let text): Self.quoted(text)
    case .array(let elements): "[" + elements.map(\.sorted).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .map { "\(Self.quoted($0.key)):\($0.value.sorted)" }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        bytes += Array("\\u00".utf8) + [HexDigits.small[Int(byte >> 4)], HexDigits.small[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Reads a `WrittenJSON`.
private struct JSONNodeParser {
  var rest: ArraySlice<UInt8>

  mutating func whole() -> WrittenJSON? {
    // A byte order mark is no part of the text.
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    guard let value = value(depth: 0) else { return nil }
    skipBlanks()
    return rest.isEmpty ? value : nil
  }

  private mutating func skipBlanks() {
    rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
  }

  private mutating func take(_ byte: Character) -> Bool {
    skipBlanks()
    guard let first = rest.first, first == byte.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func take(word: String) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }

  private mutating func value(depth: Int) -> WrittenJSON? {
    guard depth < 64 else { return nil }
    skipBlanks()
    switch rest.first {
    case UInt8(ascii: "{"): return object(depth)
    case UInt8(ascii: "["): return array(depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
    default: return number()
    }
  }

  private mutating func object(_ depth: Int) -> WrittenJSON? {
    rest.removeFirst()
    var members: [String: WrittenJSON] = [:]
    if take("}") { return .object(members) }
    while true {
      skipBlanks()
      guard rest.first == UInt8(ascii: "\""), let name = string(), take(":"),
        let value = value(depth: depth + 1)
      else { return nil }
      if members[name] == nil { members[name] = value }
      if take("}") { return .object(members) }
      guard take(",") else { return nil }
    }
  }

  private mutating func array(_ depth: Int) -> WrittenJSON? {
    rest.removeFirst()
    var elements: [WrittenJSON] = []
    if take("]") { return .array(elements) }
    while true {
      guard let value = value(depth: depth + 1) else { return nil }
      elements.append(value)
      if take("]") { return .array(elements) }
      guard take(",") else { return nil }
    }
  }

  private mutating func number() -> WrittenJSON? {
    let digits = rest.prefix { byte in
      DecimalDigits.isDigit(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
    }
    let text = String(decoding: digits, as: UTF8.self)
    guard let last = digits.last, DecimalDigits.isDigit(last), digits.first != UInt8(ascii: "+"),
      Double(text) != nil
    else { return nil }
    rest = rest.dropFirst(digits.count)
    return .number(text)
  }

  private mutating func string() -> String? {
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"): guard escape(&bytes) else { return nil }
      case 0..<0x20: return nil
      default: bytes.append(byte)
      }
    }
    return nil
  }

  private mutating func escape(_ bytes: inout [UInt8]) -> Bool {
    switch rest.popFirst() {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "u"):
      guard var unit = hexUnit() else { return false }
      if unit >= 0xD800, unit < 0xDC00 {
        guard rest.starts(with: [0x5C, 0x75]) else { return false }
        rest = rest.dropFirst(2)
        guard let low = hexUnit(), low >= 0xDC00, low < 0xE000 else { return false }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else { return false }
      bytes += Array(String(Character(scalar)).utf8)
    case let byte? where [0x22, 0x2F, 0x5C].contains(byte): bytes.append(byte)
    default: return false
    }
    return true
  }

  private mutating func hexUnit() -> UInt32? {
    let digits = rest.prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
      return nil
    }
    rest = rest.dropFirst(4)
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
