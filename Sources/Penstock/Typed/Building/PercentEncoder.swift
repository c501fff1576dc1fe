/// Percent-encoding of URL parts (RFC 3986 §2).
enum PercentEncoder {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Letters, digits and `-._~` stay; all else is encoded.
  static func encode(_ text: String) -> String {
    if text.utf8.allSatisfy(isUnreserved) { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 { append(byte, keeping: isUnreserved, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The same, but reserved characters and what is encoded already stay too.
  static func encodeIllegal(_ text: String) -> String {
    let given = Array(text.utf8)
    var bytes: [UInt8] = []
    for (index, byte) in given.enumerated() {
      if byte == UInt8(ascii: "%"), index + 2 < given.count, isHex(given[index + 1]), isHex(given[index + 2])
      {
        bytes.append(byte)
      } else {
        append(byte, keeping: { isUnreserved($0) || isReserved($0) }, to: &bytes)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Takes the encoding off; a `%` without two digits stays.
  static func decode(_ text: some StringProtocol) -> String {
    let given = Array(text.utf8)
    guard given.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var index = 0
    while index < given.count {
      if given[index] == UInt8(ascii: "%"), index + 2 < given.count, let high = nibble(given[index + 1]),
        let low = nibble(given[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(given[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ byte: UInt8, keeping isKept: (UInt8) -> Bool, to bytes: inout [UInt8]) {
    if isKept(byte) {
      bytes.append(byte)
    } else {
      bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }

  static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  static func isReserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "["),
      UInt8(ascii: "]"), UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
      true
    default: false
    }
  }

  private static func isHex(_ byte: UInt8) -> Bool { nibble(byte) != nil }

  private static func nibble(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
