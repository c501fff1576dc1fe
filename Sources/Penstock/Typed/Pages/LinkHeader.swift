import StreamCore

/// A link of a Link field (RFC 8288): where to, and how it relates.
struct LinkHeader: Sendable, Hashable {
  let target: String
  /// Relation types, in small letters.
  let relations: [String]
  let parameters: [String: String]

  /// All links of all Link fields; what can't be read is passed over.
  static func links(in fields: HTTPFields) -> [LinkHeader] {
    fields[all: "Link"].flatMap { links($0) }
  }

  static func links(_ text: String) -> [LinkHeader] {
    var scanner = Scanner(Array(text.utf8))
    var links: [LinkHeader] = []
    while scanner.skip(to: UInt8(ascii: "<")) {
      guard let target = scanner.take(until: UInt8(ascii: ">")) else { break }
      var parameters: [String: String] = [:]
      while let (name, value) = scanner.parameter() {
        // The first one counts (RFC 8288 §3.3).
        if parameters[name] == nil { parameters[name] = value }
      }
      let relations = (parameters["rel"] ?? "").split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
      // A link about another resource is no link of this one (§3.2).
      if parameters["anchor"] == nil {
        links.append(LinkHeader(target: target, relations: relations, parameters: parameters))
      }
    }
    return links
  }

  private struct Scanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
      while current == 0x20 || current == 0x09 { position += 1 }
    }

    mutating func skip(to byte: UInt8) -> Bool {
      while let next = current {
        position += 1
        if next == byte { return true }
      }
      return false
    }

    mutating func take(until byte: UInt8) -> String? {
      let start = position
      guard skip(to: byte) else { return nil }
      return String(decoding: FieldSyntax.trimmed(bytes[start..<position - 1]), as: UTF8.self)
    }

    /// The next `; name=value`; nil at the comma that ends the link.
    mutating func parameter() -> (String, String)? {
      skipBlanks()
      while current == UInt8(ascii: ";") {
        position += 1
        skipBlanks()
        let start = position
        while let byte = current, FieldSyntax.isTokenByte(byte) { position += 1 }
        let name = String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
        skipBlanks()
        if name.isEmpty { continue }
        guard current == UInt8(ascii: "=") else { return (name, "") }
        position += 1
        skipBlanks()
        defer { skipBlanks() }
        return (name, current == UInt8(ascii: "\"") ? quoted() : token())
      }
      return nil
    }

    private mutating func token() -> String {
      let start = position
      while let byte = current, byte != UInt8(ascii: ";"), byte != UInt8(ascii: ",") { position += 1 }
      return String(decoding: FieldSyntax.trimmed(bytes[start..<position]), as: UTF8.self)
    }

    private mutating func quoted() -> String {
      position += 1
      var text: [UInt8] = []
      while let byte = current {
        position += 1
        if byte == UInt8(ascii: "\"") { break }
        if byte == UInt8(ascii: "\\"), let escaped = current {
          text.append(escaped)
          position += 1
        } else {
          text.append(byte)
        }
      }
      return String(decoding: text, as: UTF8.self)
    }
  }
}
