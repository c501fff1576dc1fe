import StreamCore

/// The digests that a server tells of a whole representation: `Repr-Digest` (RFC 9530 §3) and its predecessor
/// `Digest` (RFC 3230). They hold for a part (206) as well as for the whole.
enum DigestFields {
  /// The strongest that is told and known here; nil when there is none, or several that contradict each other.
  static func expected(_ headers: HTTPFields) -> Digest? {
    var found: [Digest.Algorithm: Digest] = [:]
    let told =
      headers[all: "Repr-Digest"].flatMap(structured) + headers[all: "Digest"].flatMap(plain)
    for digest in told {
      if let other = found[digest.algorithm], other != digest { return nil }
      found[digest.algorithm] = digest
    }
    return [.sha512, .sha256].lazy.compactMap { found[$0] }.first
  }

  /// `sha-256=:BASE64:, sha-512=:BASE64:`
  private static func structured(_ value: String) -> [Digest] {
    members(value).compactMap { name, text in
      guard text.count > 2, text.first == ":" else { return nil }
      let rest = text.dropFirst()
      // Parameters may follow the byte sequence.
      guard let end = rest.firstIndex(of: ":") else { return nil }
      return digest(name, rest[..<end])
    }
  }

  /// `SHA-256=BASE64,sha-512=BASE64`
  private static func plain(_ value: String) -> [Digest] { members(value).compactMap { digest($0, $1) } }

  private static func members(_ value: String) -> [(Substring, Substring)] {
    value.split(separator: ",").prefix(16).compactMap { member in
      let member = member.drop { $0 == " " || $0 == "\t" }
      guard let equals = member.firstIndex(of: "=") else { return nil }
      var text = member[member.index(after: equals)...]
      while let last = text.last, last == " " || last == "\t" { text.removeLast() }
      return (member[..<equals], text)
    }
  }

  private static func digest(_ name: Substring, _ base64: Substring) -> Digest? {
    // Those of the two algorithms that stand against an attacker; others aren't worth a pass over the file.
    guard let algorithm = Digest.Algorithm(name: String(name)), algorithm == .sha256 || algorithm == .sha512,
      let bytes = Base64Text.decode(base64)
    else { return nil }
    return Digest(algorithm, bytes: bytes)
  }
}

/// Base64 back to bytes (RFC 4648 §4), padding demanded.
enum Base64Text {
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 4 * 3)
    for start in stride(from: 0, to: digits.count, by: 4) {
      let group = digits[start..<start + 4]
      let padding = group.reversed().prefix { $0 == UInt8(ascii: "=") }.count
      guard padding <= 2, padding == 0 || start + 4 == digits.count else { return nil }
      var number: UInt32 = 0
      for digit in group.dropLast(padding) {
        guard let value = value(digit) else { return nil }
        number = number << 6 | UInt32(value)
      }
      number <<= 6 * UInt32(padding)
      let three = [UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
      bytes += three.prefix(3 - padding)
    }
    return bytes
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
