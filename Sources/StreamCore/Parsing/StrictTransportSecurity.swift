/// A Strict-Transport-Security field (RFC 6797 §6.1).
package struct StrictTransportSecurity: Sendable, Hashable {
  /// Seconds from now; 0: forget the host.
  package let maximumAge: Int64
  package let includesSubdomains: Bool

  /// Nil for a field that must be ignored: without max-age, with a directive twice, or damaged.
  package init?(_ value: String) {
    var names: Set<String> = []
    var age: Int64?
    var includes = false
    var rest = Array(value.utf8)[...]
    while true {
      let directive = Self.takeDirective(&rest)
      guard let (name, value) = directive else { return nil }
      if !name.isEmpty {
        guard names.insert(name).inserted else { return nil }
        switch name {
        case "max-age":
          guard let value, !value.isEmpty, value.allSatisfy(DecimalDigits.isDigit) else { return nil }
          // More digits than fit are as good as for ever.
          age = DecimalDigits.value(value) ?? .max
        case "includesubdomains":
          guard value == nil else { return nil }
          includes = true
        default: break
        }
      } else if value != nil {
        return nil
      }
      guard let separator = rest.first else { break }
      guard separator == UInt8(ascii: ";") else { return nil }
      rest = rest.dropFirst()
    }
    guard let age else { return nil }
    maximumAge = age
    includesSubdomains = includes
  }

  /// A name in small letters and its value, up to the next semicolon or the end; an empty name for nothing at all.
  private static func takeDirective(_ rest: inout ArraySlice<UInt8>) -> (String, [UInt8]?)? {
    skipBlanks(&rest)
    let name = rest.prefix(while: FieldSyntax.isTokenByte)
    rest = rest.dropFirst(name.count)
    skipBlanks(&rest)
    guard rest.first == UInt8(ascii: "=") else { return (text(name), nil) }
    rest = rest.dropFirst()
    skipBlanks(&rest)
    var value: [UInt8] = []
    if rest.first == UInt8(ascii: "\"") {
      rest = rest.dropFirst()
      while true {
        guard let byte = rest.popFirst() else { return nil }
        if byte == UInt8(ascii: "\"") { break }
        if byte == UInt8(ascii: "\\") {
          guard let escaped = rest.popFirst() else { return nil }
          value.append(escaped)
        } else {
          value.append(byte)
        }
      }
    } else {
      value = Array(rest.prefix(while: FieldSyntax.isTokenByte))
      rest = rest.dropFirst(value.count)
    }
    skipBlanks(&rest)
    return (text(name), value)
  }

  private static func skipBlanks(_ rest: inout ArraySlice<UInt8>) {
    rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.map(FieldSyntax.lower), as: UTF8.self)
  }
}
