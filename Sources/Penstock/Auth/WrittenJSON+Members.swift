import StreamCore

/// What authorization reads and writes of JSON.
extension WrittenJSON {
  /// Nil for anything but one whole value, nested 64 deep at most.
  static func parse(_ bytes: [UInt8]) -> WrittenJSON? {
    // A byte order mark is no part of the text.
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    return try? JSONReader.read(hasMark ? Array(bytes.dropFirst(3)) : bytes)
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
