import StreamCore

/// Finds where a value stands in a JSON text, for errors. It reads no more than it must and trusts nothing.
struct JSONLocator {
  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The position of the first byte of the value at a path; nil where there is none or the text is broken.
  static func offset(of path: [any CodingKey], in bytes: [UInt8]) -> Int? {
    var locator = JSONLocator(bytes)
    locator.skipBlanks()
    for key in path {
      let isFound = key.intValue.map { locator.enter(index: $0) } ?? locator.enter(member: key.stringValue)
      guard isFound else { return nil }
    }
    return locator.position < bytes.count ? locator.position : nil
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard current == byte else { return false }
    position += 1
    skipBlanks()
    return true
  }

  private mutating func enter(index: Int) -> Bool {
    guard take(UInt8(ascii: "[")) else { return false }
    for _ in 0..<max(0, index) {
      guard skipValue(), take(UInt8(ascii: ",")) else { return false }
    }
    return current != nil
  }

  private mutating func enter(member name: String) -> Bool {
    guard take(UInt8(ascii: "{")) else { return false }
    while let key = string() {
      guard take(UInt8(ascii: ":")) else { return false }
      if key == name || KeyForm.snakeCase.text(name) == key { return true }
      guard skipValue(), take(UInt8(ascii: ",")) else { return false }
    }
    return false
  }

  /// A string without its quotes; escapes are kept as they are.
  private mutating func string() -> String? {
    guard current == UInt8(ascii: "\"") else { return nil }
    let start = position + 1
    guard skipString() else { return nil }
    return String(decoding: bytes[start..<position - 1], as: UTF8.self)
  }

  private mutating func skipString() -> Bool {
    position += 1
    while let byte = current {
      position += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return true }
    }
    return false
  }

  /// Passes one value by counting brackets outside of strings.
  private mutating func skipValue() -> Bool {
    skipBlanks()
    var depth = 0
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        guard skipString() else { return false }
        if depth == 0 { return true }
        continue
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        // The end of what the value stands in.
        if depth == 0 { return true }
        depth -= 1
        if depth == 0 {
          position += 1
          return true
        }
      case UInt8(ascii: ","): if depth == 0 { return true }
      default: break
      }
      position += 1
    }
    return depth == 0
  }
}
