import StreamCore

/// A small reader of XML 1.0 for documents of the known kind: elements, attributes, text, CDATA, comments, and the
/// references that XML defines itself. Declarations of document types are refused, and with them everything that
/// could make a small document large; depth and size are bounded.
struct XMLReader: ~Copyable {
  enum Event: Sendable, Equatable {
    /// The name without its prefix.
    case start(name: String, attributes: [String: String])
    case text(String)
    case end(name: String)
  }

  struct Failure: Error, Sendable, Equatable {
    let message: String
    /// Where, in bytes.
    let position: Int
  }

  static let deepest = 64

  private let bytes: [UInt8]
  private var position = 0
  private var open: [String] = []
  private var pendingEnd: String?
  private var hasRoot = false

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: ByteOrderMark.bytes) { position = 3 }
  }

  /// The next event; nil after the root element's end.
  mutating func next() throws(Failure) -> Event? {
    if let name = pendingEnd {
      pendingEnd = nil
      open.removeLast()
      return .end(name: name)
    }
    while position < bytes.count {
      guard bytes[position] == UInt8(ascii: "<") else {
        let text = try text()
        if open.isEmpty {
          guard text.utf8.allSatisfy(Self.isSpace) else {
            throw failure("there is text outside the root element")
          }
          continue
        }
        return .text(text)
      }
      if skips("<!--") {
        try skip(past: "-->", what: "a comment")
      } else if skips("<?") {
        try skip(past: "?>", what: "an instruction")
      } else if skips("<![CDATA[") {
        guard !open.isEmpty else { throw failure("there is text outside the root element") }
        let start = position
        try skip(past: "]]>", what: "CDATA")
        return .text(String(decoding: bytes[start..<position - 3], as: UTF8.self))
      } else if skips("<!") {
        throw failure("declarations aren't taken")
      } else if skips("</") {
        return try endTag()
      } else {
        return try startTag()
      }
    }
    guard open.isEmpty, hasRoot else { throw failure("the document ends too early") }
    return nil
  }

  private mutating func startTag() throws(Failure) -> Event {
    position += 1
    let name = try name()
    guard !(open.isEmpty && hasRoot) else { throw failure("there is a second root element") }
    guard open.count < Self.deepest else { throw failure("elements are nested too deep") }
    hasRoot = true
    var attributes: [String: String] = [:]
    while true {
      let hadSpace = skipSpace()
      guard position < bytes.count else { throw failure("a tag isn't closed") }
      if bytes[position] == UInt8(ascii: ">") {
        position += 1
        open.append(name)
        return .start(name: Self.local(name), attributes: attributes)
      }
      if skips("/>") {
        open.append(name)
        pendingEnd = Self.local(name)
        return .start(name: Self.local(name), attributes: attributes)
      }
      guard hadSpace else { throw failure("a tag is damaged") }
      let attribute = try self.name()
      _ = skipSpace()
      guard skips("=") else { throw failure("an attribute has no value") }
      _ = skipSpace()
      guard position < bytes.count,
        bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'")
      else { throw failure("an attribute's value isn't quoted") }
      let quote = bytes[position]
      let start = position + 1
      guard let end = bytes[start...].firstIndex(of: quote) else { throw failure("a quote isn't closed") }
      guard attributes.count < 64, attributes[Self.local(attribute)] == nil else {
        throw failure("an attribute is there twice")
      }
      attributes[Self.local(attribute)] = try resolved(bytes[start..<end])
      position = end + 1
    }
  }

  private mutating func endTag() throws(Failure) -> Event {
    let name = try name()
    _ = skipSpace()
    guard skips(">"), open.last == name else { throw failure("the tag </\(name)> doesn't fit") }
    open.removeLast()
    return .end(name: Self.local(name))
  }

  private mutating func text() throws(Failure) -> String {
    let start = position
    position = bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
    return try resolved(bytes[start..<position])
  }

  private mutating func name() throws(Failure) -> String {
    let start = position
    while position < bytes.count, Self.isName(bytes[position]) { position += 1 }
    guard position > start, position - start <= 256 else { throw failure("a name is missing") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private func resolved(_ text: ArraySlice<UInt8>) throws(Failure) -> String {
    guard text.contains(UInt8(ascii: "&")) else { return String(decoding: text, as: UTF8.self) }
    var result: [UInt8] = []
    var rest = text
    while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
      result += rest[..<ampersand]
      guard let end = rest[ampersand...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
        throw failure("a reference isn't closed")
      }
      result += try reference(String(decoding: rest[(ampersand + 1)..<end], as: UTF8.self)).utf8
      rest = rest[(end + 1)...]
    }
    return String(decoding: result + rest, as: UTF8.self)
  }

  private func reference(_ name: String) throws(Failure) -> String {
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    let number =
      name.hasPrefix("#x")
      ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
    guard let number, number > 0, let scalar = Unicode.Scalar(number) else {
      throw failure("the reference &\(name); is unknown")
    }
    return String(Character(scalar))
  }

  private mutating func skips(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func skip(past mark: StaticString, what: String) throws(Failure) {
    while position < bytes.count {
      if skips(mark) { return }
      position += 1
    }
    throw failure("\(what) isn't closed")
  }

  private mutating func skipSpace() -> Bool {
    let start = position
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    return position > start
  }

  private func failure(_ message: String) -> Failure { Failure(message: message, position: position) }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: ":"), 0x80...:
      true
    default: false
    }
  }

  private static func local(_ name: String) -> String {
    name.split(separator: ":").last.map(String.init) ?? name
  }
}
