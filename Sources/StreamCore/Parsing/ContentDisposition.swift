/// The file name of a Content-Disposition field (RFC 6266), `filename*` (RFC 8187) before `filename`.
package enum ContentDisposition {
  /// The name as the server gave it, not yet safe to use; nil when there is none.
  package static func fileName(_ field: String) -> String? {
    var plain: String?
    for (name, value) in parameters(field) {
      switch name {
      case "filename*":
        if let decoded = extended(value) { return decoded }
      case "filename": plain = plain ?? value
      default: break
      }
    }
    return plain
  }

  /// Parameters after the type: names lower-cased, quoted values unquoted. On Unicode scalars: a quote with a
  /// combining mark is one character, and a quote all the same.
  static func parameters(_ field: String) -> [(String, String)] {
    var found: [(String, String)] = []
    var rest = field.unicodeScalars[...].drop { $0 != ";" }
    while rest.first == ";" {
      rest = rest.dropFirst().drop(while: isBlank)
      let name = rest.prefix { $0 != "=" && $0 != ";" }
      rest = rest[name.endIndex...]
      guard rest.first == "=" else { continue }
      rest = rest.dropFirst().drop(while: isBlank)
      let value: String
      if rest.first == "\"" {
        value = unquoted(&rest)
        rest = rest.drop { $0 != ";" }
      } else {
        let token = rest.prefix { $0 != ";" }
        rest = rest[token.endIndex...]
        value = trimmed(token)
      }
      found.append((trimmed(name).lowercased(), value))
    }
    return found
  }

  /// Takes a quoted string off; one without an end lasts to the field's.
  private static func unquoted(_ rest: inout Substring.UnicodeScalarView) -> String {
    var value = String.UnicodeScalarView()
    rest.removeFirst()
    while let scalar = rest.popFirst(), scalar != "\"" {
      if scalar != "\\" {
        value.append(scalar)
      } else if let escaped = rest.popFirst() {
        value.append(escaped)
      }
    }
    return String(value)
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

  private static func trimmed(_ text: Substring.UnicodeScalarView) -> String {
    var text = text
    while let last = text.last, isBlank(last) { text.removeLast() }
    return String(text)
  }

  /// charset'language'percent-encoded; UTF-8 and ISO 8859-1 are known.
  private static func extended(_ value: String) -> String? {
    let parts = value.unicodeScalars.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
      .map { String($0) }
    guard parts.count == 3, let bytes = percentBytes(parts[2]) else { return nil }
    switch parts[0].lowercased() {
    case "utf-8": return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    default: return nil
    }
  }

  /// Undoes percent-encoding; text that isn't properly encoded stays as it is.
  package static func percentDecoded(_ text: some StringProtocol) -> String {
    guard let bytes = percentBytes(text) else { return String(text) }
    return String(validating: bytes, as: UTF8.self) ?? String(text)
  }

  private static func percentBytes(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var iterator = text.utf8.makeIterator()
    while let byte = iterator.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = iterator.next().flatMap(HexDigits.value(of:)),
        let low = iterator.next().flatMap(HexDigits.value(of:))
      else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
