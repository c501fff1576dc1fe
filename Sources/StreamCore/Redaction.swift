import Synchronization

/// What must not reach a log, an error text or an exported command.
package enum Redaction {
  /// What stands in place of a secret.
  package static let mark = "…"

  /// Fields that hold secrets by what everybody uses them for, in small letters.
  package static let secretFields: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token",
    "x-amz-security-token", "x-access-token", "x-csrf-token", "authentication-info",
    "dpop", "x-session-token", "x-refresh-token",
  ]

  private static let secretQueryNames: Set<String> = [
    "token", "access_token", "refresh_token", "id_token", "api_key", "apikey", "key", "sig", "signature",
    "password", "passwd", "secret", "client_secret", "code", "auth", "assertion", "code_verifier",
    "device_code", "x-amz-signature", "x-amz-credential",
    "x-amz-security-token", "x-goog-signature", "x-goog-credential",
  ]

  /// Whether a header field of this name carries a secret.
  package static func isSecretField(_ name: String) -> Bool {
    let name = name.lowercased()
    return secretFields.contains(name) || marked.withLock { $0.fields.contains(name) }
  }

  /// Names that credentials were given for, beside those that everybody knows.
  private struct Marked: Sendable {
    var fields: Set<String> = []
    var queryNames: Set<String> = []
  }

  private static let marked = Mutex(Marked())
  /// Names are chosen by programs, not by peers: more than this is a mistake that must not eat memory.
  private static let markedLimit = 4096

  /// Counts a field of this name as secret from now on, in the whole process.
  package static func markField(_ name: String) {
    marked.withLock { if $0.fields.count < markedLimit { $0.fields.insert(name.lowercased()) } }
  }

  /// Counts a query item of this name as secret from now on, in the whole process.
  package static func markQueryName(_ name: String) {
    marked.withLock { if $0.queryNames.count < markedLimit { $0.queryNames.insert(name.lowercased()) } }
  }

  /// A URL without user info and with the values of secret query items cut, those in a fragment too.
  ///
  /// Any text is taken: what isn't a valid URL is the more likely to show up in an error.
  package static func url(_ text: String) -> String {
    // As bytes: a combining character would hide the separator before it.
    let bytes = Array(text.utf8)
    let authority = authorityStart(in: bytes)
    let afterUserInfo = userInfoEnd(in: bytes, from: authority)
    var result = Array(bytes[..<authority])
    if afterUserInfo > authority { result += Array(mark.utf8) + [UInt8(ascii: "@")] }
    let rest = bytes[afterUserInfo...]
    let items = rest.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? rest.endIndex
    result += rest[..<items]
    appendItems(rest[items...], to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  /// A URL without user info, for programs that must tell it from others: its query stays.
  package static func userInfo(_ text: String) -> String {
    // Nearly no URL has any.
    guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
    let bytes = Array(text.utf8)
    let authority = authorityStart(in: bytes)
    let end = userInfoEnd(in: bytes, from: authority)
    guard end > authority else { return text }
    return String(decoding: bytes[..<authority] + Array("\(mark)@".utf8) + bytes[end...], as: UTF8.self)
  }

  private static func isSlash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
  }

  /// The position after a scheme and the slashes; 0 where there is neither.
  private static func authorityStart(in bytes: [UInt8]) -> Int {
    var position = 0
    let schemeEnd = bytes.firstIndex { !FieldSyntax.isTokenByte($0) } ?? bytes.count
    if schemeEnd < bytes.count, bytes[schemeEnd] == UInt8(ascii: ":"), schemeEnd + 1 < bytes.count,
      isSlash(bytes[schemeEnd + 1])
    {
      position = schemeEnd + 1
    }
    while position < bytes.count, isSlash(bytes[position]) { position += 1 }
    return position
  }

  /// The position after the last "@" of the authority; `start` where there is none.
  private static func userInfoEnd(in bytes: [UInt8], from start: Int) -> Int {
    func isEnd(_ byte: UInt8) -> Bool {
      isSlash(byte) || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
    var end = bytes[start...].firstIndex(where: isEnd) ?? bytes.count
    let authority = bytes[start..<end]
    // A port that is no number may be a password that goes on behind a "/", "?" or "#".
    if authority.first != UInt8(ascii: "["), !authority.contains(UInt8(ascii: "@")),
      let colon = authority.firstIndex(of: UInt8(ascii: ":")),
      !authority[(colon + 1)...].allSatisfy(DecimalDigits.isDigit)
    {
      end = bytes.count
    }
    return bytes[start..<end].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? start
  }

  /// Query and fragment: items between separators, the value of a secret one cut.
  private static func appendItems(_ bytes: ArraySlice<UInt8>, to result: inout [UInt8]) {
    let separators = Array("?&;#".utf8)
    var position = bytes.startIndex
    while position < bytes.endIndex {
      let end = bytes[position...].firstIndex(where: separators.contains) ?? bytes.endIndex
      let item = bytes[position..<end]
      if let equals = item.firstIndex(of: UInt8(ascii: "=")), isSecretQueryName(item[..<equals]) {
        result += item[...equals]
        result += Array(mark.utf8)
      } else {
        result += item
      }
      if end < bytes.endIndex { result.append(bytes[end]) }
      position = end + 1
    }
  }

  private static func isSecretQueryName(_ name: ArraySlice<UInt8>) -> Bool {
    var decoded: [UInt8] = []
    var position = name.startIndex
    while position < name.endIndex {
      if name[position] == UInt8(ascii: "%"), position + 2 < name.endIndex,
        let byte = UInt8(String(decoding: name[(position + 1)...(position + 2)], as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        position += 3
      } else {
        decoded.append(name[position])
        position += 1
      }
    }
    let text = String(decoding: decoded, as: UTF8.self).lowercased()
    return secretQueryNames.contains(text) || marked.withLock { $0.queryNames.contains(text) }
  }
}
