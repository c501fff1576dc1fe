/// The two forms of an ECDSA signature over P-256: DER, which libcrypto speaks, and the 64 bytes r‖s of
/// JOSE (RFC 7518 §3.4) and HTTP message signatures (RFC 9421 §3.3.4).
enum ECDSASignature {
  static let width = 32

  /// r‖s from DER; nil for anything but a sequence of two integers of at most 32 bytes.
  static func raw(fromDER der: [UInt8]) -> [UInt8]? {
    var rest = der[...]
    guard rest.popFirst() == 0x30, let length = rest.popFirst(), length < 0x80, Int(length) == rest.count,
      let first = integer(&rest), let second = integer(&rest), rest.isEmpty
    else { return nil }
    return first + second
  }

  private static func integer(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard rest.popFirst() == 0x02, let length = rest.popFirst(), length > 0, length < 0x80,
      rest.count >= Int(length)
    else { return nil }
    let digits = rest.prefix(Int(length)).drop { $0 == 0 }
    rest = rest.dropFirst(Int(length))
    guard digits.count <= width else { return nil }
    return [UInt8](repeating: 0, count: width - digits.count) + digits
  }

  /// DER from r‖s; nil unless there are 64 bytes.
  static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
    guard raw.count == 2 * width else { return nil }
    var content: [UInt8] = []
    for half in [raw[..<width], raw[width...]] {
      var digits = Array(half.drop { $0 == 0 })
      // A set high bit would make it negative.
      if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
      content += [0x02, UInt8(digits.count)] + digits
    }
    return [0x30, UInt8(content.count)] + content
  }
}
