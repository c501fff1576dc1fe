/// The character sets that bodies are read in as text.
enum TextCharset: Sendable, Hashable {
  case utf8
  case latin1
  case windows1252
  case utf16(bigEndian: Bool?)

  /// By its name in a Content-Type; nil for one that isn't known.
  init?(_ name: String) {
    switch name.lowercased() {
    case "utf-8", "utf8", "us-ascii", "ascii": self = .utf8
    case "iso-8859-1", "latin1", "iso8859-1", "iso_8859-1": self = .latin1
    case "windows-1252", "cp1252", "x-cp1252": self = .windows1252
    case "utf-16": self = .utf16(bigEndian: nil)
    case "utf-16be": self = .utf16(bigEndian: true)
    case "utf-16le": self = .utf16(bigEndian: false)
    default: return nil
    }
  }

  /// The text; what can't be read is replaced by U+FFFD. A byte-order mark wins over the name (WHATWG Encoding) and
  /// isn't part of the text.
  func text(_ bytes: [UInt8]) -> String {
    if bytes.starts(with: ByteOrderMark.bytes) { return String(decoding: bytes.dropFirst(3), as: UTF8.self) }
    if bytes.starts(with: [0xFE, 0xFF]) { return Self.utf16(bytes.dropFirst(2), bigEndian: true) }
    if bytes.starts(with: [0xFF, 0xFE]) { return Self.utf16(bytes.dropFirst(2), bigEndian: false) }
    switch self {
    case .utf8: return String(decoding: bytes, as: UTF8.self)
    case .latin1: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    case .windows1252: return String(String.UnicodeScalarView(bytes.map(Self.windows1252)))
    case .utf16(let bigEndian): return Self.utf16(bytes[...], bigEndian: bigEndian ?? false)
    }
  }

  private static func utf16(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) -> String {
    var units: [UInt16] = []
    var index = bytes.startIndex
    while index + 1 < bytes.endIndex {
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      units.append(bigEndian ? first << 8 | second : second << 8 | first)
      index += 2
    }
    // An odd byte is half a unit.
    if index < bytes.endIndex { units.append(0xFFFD) }
    return String(decoding: units, as: UTF16.self)
  }

  private static let high: [UInt32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0x8D,
    0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
    0x203A,
    0x0153, 0x9D, 0x017E, 0x0178,
  ]

  private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
    guard byte >= 0x80, byte < 0xA0 else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(high[Int(byte) - 0x80]) ?? "\u{FFFD}"
  }
}
