import StreamCore

/// One challenge of a WWW-Authenticate field (RFC 9110 §11.6.1): a scheme with parameters, or with one token.
struct AuthChallenge: Sendable, Hashable {
  /// The scheme in small letters.
  var scheme: String
  /// Parameters by their names in small letters; the first of a name counts.
  var parameters: [String: String] = [:]
  /// What stands in place of parameters (token68).
  var token: String?

  /// The challenges of a head, in order. What can't be read ends its field; what came before it counts.
  static func all(in fields: HTTPFields, name: String = "WWW-Authenticate") -> [AuthChallenge] {
    fields[all: name].flatMap { parse($0) }
  }

  static func parse(_ text: String) -> [AuthChallenge] {
    var reader = Reader(bytes: Array(text.utf8)[...])
    var challenges: [AuthChallenge] = []
    while reader.skipSeparators(), let word = reader.token() {
      let hadBlank = reader.skipBlanks()
      // A name with an equals sign goes on with the challenge before it.
      if !challenges.isEmpty, let value = reader.parameterValue() {
        challenges[challenges.count - 1].add(word, value)
        continue
      }
      var challenge = AuthChallenge(scheme: word.lowercased())
      if hadBlank, let token = reader.token68() {
        challenge.token = token
      } else if hadBlank, let name = reader.token() {
        reader.skipBlanks()
        guard let value = reader.parameterValue() else {
          challenges.append(challenge)
          break
        }
        challenge.add(name, value)
      }
      challenges.append(challenge)
    }
    return challenges
  }

  private mutating func add(_ name: String, _ value: String) {
    let name = name.lowercased()
    if parameters[name] == nil { parameters[name] = value }
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    @discardableResult mutating func skipBlanks() -> Bool {
      let before = bytes.count
      bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
      return bytes.count < before
    }

    mutating func skipSeparators() -> Bool {
      bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") }
      return !bytes.isEmpty
    }

    mutating func token() -> String? {
      let word = bytes.prefix(while: FieldSyntax.isTokenByte)
      guard !word.isEmpty else { return nil }
      bytes = bytes.dropFirst(word.count)
      return String(decoding: word, as: UTF8.self)
    }

    /// Letters and digits that go on to the end of the challenge, such as those of Negotiate.
    mutating func token68() -> String? {
      var rest = bytes
      let word = rest.prefix { FieldSyntax.isTokenByte($0) || $0 == UInt8(ascii: "/") }
      rest = rest.dropFirst(word.count)
      let padding = rest.prefix { $0 == UInt8(ascii: "=") }
      rest = rest.dropFirst(padding.count)
      let after = rest.drop { $0 == 0x20 || $0 == 0x09 }
      guard !word.isEmpty, after.isEmpty || after.first == UInt8(ascii: ",") else { return nil }
      bytes = rest
      return String(decoding: word + padding, as: UTF8.self)
    }

    /// What follows an equals sign; nil, and nothing is taken, where there is none.
    mutating func parameterValue() -> String? {
      var rest = self
      guard rest.bytes.popFirst() == UInt8(ascii: "=") else { return nil }
      rest.skipBlanks()
      guard rest.bytes.first == UInt8(ascii: "\"") else {
        let value = rest.bytes.prefix {
          $0 != 0x20 && $0 != 0x09 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"")
        }
        guard !value.isEmpty else { return nil }
        rest.bytes = rest.bytes.dropFirst(value.count)
        self = rest
        return String(decoding: value, as: UTF8.self)
      }
      rest.bytes.removeFirst()
      var value: [UInt8] = []
      while let byte = rest.bytes.popFirst() {
        if byte == UInt8(ascii: "\"") {
          self = rest
          return String(decoding: value, as: UTF8.self)
        }
        if byte == UInt8(ascii: "\\"), let escaped = rest.bytes.popFirst() {
          value.append(escaped)
        } else {
          value.append(byte)
        }
      }
      return nil
    }
  }
}
