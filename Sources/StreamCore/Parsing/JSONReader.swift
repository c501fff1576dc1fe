/// Reads one JSON text (RFC 8259) strictly: nothing is forgiven, nothing may follow.
package struct JSONReader {
  /// What is wrong, and where in bytes from the start.
  package struct Failure: Error, Equatable {
    package let message: String
    package let offset: Int
  }

  /// How many containers may lie in each other.
  package static let deepest = 64

  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  package static func read(_ bytes: [UInt8]) throws(Failure) -> WrittenJSON {
    var reader = JSONReader(bytes)
    reader.skipBlanks()
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.position == bytes.count else { throw reader.failure("something follows the value") }
    return value
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func failure(_ message: String) -> Failure { Failure(message: message, offset: position) }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private mutating func value(depth: Int) throws(Failure) -> WrittenJSON {
    guard depth < Self.deepest else { throw failure("it is nested too deeply") }
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw failure("it ends too early")
    default: return .number(try number())
    }
  }

  private mutating func word(_ word: StaticString, _ value: WrittenJSON) throws(Failure) -> WrittenJSON {
    let count = word.utf8CodeUnitCount
    guard position + count <= bytes.count, bytes[position..<position + count].elementsEqual("\(word)".utf8)
    else {
      throw failure("no value begins like this")
    }
    position += count
    return value
  }

  private mutating func number() throws(Failure) -> String {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    let whole = try digits()
    if whole.count > 1, whole.first == UInt8(ascii: "0") { throw failure("a number begins with a zero") }
    if next == UInt8(ascii: ".") {
      position += 1
      _ = try digits()
    }
    if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      _ = try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() throws(Failure) -> ArraySlice<UInt8> {
    let start = position
    while let byte = next, DecimalDigits.isDigit(byte) { position += 1 }
    guard position > start else { throw failure("no value begins like this") }
    return bytes[start..<position]
  }

  private mutating func array(depth: Int) throws(Failure) -> WrittenJSON {
    position += 1
    var values: [WrittenJSON] = []
    skipBlanks()
    if next == UInt8(ascii: "]") {
      position += 1
      return .array(values)
    }
    while true {
      skipBlanks()
      values.append(try value(depth: depth + 1))
      if try ends(with: UInt8(ascii: "]")) { return .array(values) }
    }
  }

  private mutating func object(depth: Int) throws(Failure) -> WrittenJSON {
    position += 1
    var members: [WrittenJSON.Member] = []
    skipBlanks()
    if next == UInt8(ascii: "}") {
      position += 1
      return .object(members)
    }
    while true {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw failure("a name is missing") }
      let name = try string()
      skipBlanks()
      guard next == UInt8(ascii: ":") else { throw failure("a colon is missing") }
      position += 1
      skipBlanks()
      members.append(WrittenJSON.Member(name: name, value: try value(depth: depth + 1)))
      if try ends(with: UInt8(ascii: "}")) { return .object(members) }
    }
  }

  /// After an element: whether it was the last.
  private mutating func ends(with end: UInt8) throws(Failure) -> Bool {
    skipBlanks()
    guard let byte = next else { throw failure("it ends too early") }
    guard byte == end || byte == UInt8(ascii: ",") else { throw failure("a comma is missing") }
    position += 1
    return byte == end
  }

  // MARK: strings

  private mutating func string() throws(Failure) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        guard let string = String(validating: text, as: UTF8.self) else {
          throw failure("a string isn't UTF-8")
        }
        return string
      case UInt8(ascii: "\\"):
        position += 1
        try escape(into: &text)
      case 0..<0x20: throw failure("a control character is in a string")
      default:
        text.append(byte)
        position += 1
      }
    }
    throw failure("a string has no end")
  }

  private mutating func escape(into text: inout [UInt8]) throws(Failure) {
    let fault = bytes.withUnsafeBytes { bytes -> JSONEscapes.Fault? in
      do throws(JSONEscapes.Fault) {
        try JSONEscapes.read(bytes, &position, into: &text)
        return nil
      } catch {
        return error
      }
    }
    switch fault {
    case nil: break
    case .end: throw failure("a string has no end")
    case .unknown: throw failure("no such escape")
    case .digits: throw failure("four digits are missing after \\u")
    case .halfCharacter: throw failure("half a character is in a string")
    }
  }
}
