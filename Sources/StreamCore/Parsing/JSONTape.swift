/// The values of one JSON text in the order in which they stand, found in one pass: what a decoder looks things up in.
/// Texts of strings and numbers are read when they are asked for.
///
/// Strict (RFC 8259), and made only of what is plainly JSON in UTF-8: nil says no more than that something else must
/// look at the bytes.
package struct JSONTape: Sendable {
  package enum Kind: UInt8, Sendable {
    case null
    case no
    case yes
    case number
    case string
    case array
    case object
  }

  /// One value or name.
  package struct Entry: Sendable {
    package let kind: Kind
    /// Of a string: it holds escapes. Of an object: one of its names does, or isn't ASCII. Of a number: it has a fraction
    /// or an exponent.
    package fileprivate(set) var isSpecial: Bool
    /// Where the text of a string (within its quotation marks) or a number begins.
    package let start: UInt32
    /// Where that text ends; of a container how many elements or members it has.
    package fileprivate(set) var end: UInt32
    /// The entry behind this value and all that is in it.
    package fileprivate(set) var next: UInt32
  }

  /// How deep containers may lie in each other.
  package static let deepest = 512

  package let bytes: [UInt8]
  /// A member is its name and then its value.
  package let entries: [Entry]

  package init?(_ bytes: [UInt8]) {
    guard bytes.count < Int(UInt32.max) / 2 else { return nil }
    var parser = JSONTapeParser(room: bytes.count / 8 + 8)
    guard bytes.withUnsafeBytes({ parser.parse($0) }) else { return nil }
    self.bytes = bytes
    entries = parser.entries
  }

  /// The bytes of a string or a number.
  @inline(__always)
  package func withText<Result>(
    of entry: Entry, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[Int(entry.start)..<Int(entry.end)])) }
  }

  /// The text of a string, its escapes read; nil for what is no text.
  package func string(_ entry: Entry) -> String? {
    withText(of: entry) { text in
      // Not by `String(validating:)`, which runs unspecialized.
      guard UTF8Check.firstInvalid(text) == nil else { return nil }
      return entry.isSpecial
        ? JSONEscapes.removed(from: text).map { String(decoding: $0, as: UTF8.self) }
        : String(decoding: text, as: UTF8.self)
    }
  }

  /// The value of the first member of an object that has a name, byte by byte; nil where there is none.
  package func value(named name: String, in object: Int) -> Int? {
    var name = name
    return name.withUTF8 { name in
      bytes.withUnsafeBytes { bytes in
        entries.withUnsafeBufferPointer { entries in
          var place = object &+ 1
          let end = Int(entries[object].next)
          while place < end {
            let key = entries[place]
            if Int(key.end &- key.start) == name.count, !key.isSpecial,
              Self.isEqual(name, bytes, Int(key.start))
            {
              return place &+ 1
            }
            place = Int(entries[place &+ 1].next)
          }
          return nil
        }
      }
    }
  }

  @inline(__always)
  private static func isEqual(
    _ name: UnsafeBufferPointer<UInt8>, _ bytes: UnsafeRawBufferPointer, _ start: Int
  ) -> Bool {
    for index in 0..<name.count where name[index] != bytes[start &+ index] { return false }
    return true
  }
}

/// Fills a tape.
private struct JSONTapeParser {
  private typealias Kind = JSONTape.Kind

  private(set) var entries: [JSONTape.Entry] = []
  /// The open containers, and of each how many values it has so far.
  private var open: [(entry: Int, count: UInt32)] = []

  init(room: Int) { entries.reserveCapacity(room) }

  mutating func parse(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    // Whether a value may be next: not in an object before its name.
    while true {
      guard value(bytes, &place) else { return false }
      // Behind a value: ends of containers, or a comma.
      while true {
        guard let last = open.last else {
          skipBlanks(bytes, &place)
          return place == bytes.count
        }
        // An empty container was closed where it began.
        if last.count == 0, entries.count == last.entry &+ 1 { break }
        skipBlanks(bytes, &place)
        guard place < bytes.count else { return false }
        let byte = bytes[place]
        place &+= 1
        let isObject = entries[last.entry].kind == .object
        if byte == UInt8(ascii: ",") { break }
        guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
        close()
      }
      if let last = open.last {
        if entries[last.entry].kind == .object, !name(bytes, &place, last.entry) { return false }
        open[open.count &- 1].count &+= 1
      }
    }
  }

  private mutating func close() {
    guard let last = open.popLast() else { return }
    entries[last.entry].end = last.count
    entries[last.entry].next = UInt32(entries.count)
  }

  private func skipBlanks(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) {
    while place < bytes.count {
      let byte = bytes[place]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      place &+= 1
    }
  }

  private mutating func name(_ bytes: UnsafeRawBufferPointer, _ place: inout Int, _ object: Int) -> Bool {
    skipBlanks(bytes, &place)
    guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return false }
    guard string(bytes, &place) else { return false }
    let name = entries[entries.count &- 1]
    let text = UnsafeRawBufferPointer(rebasing: bytes[Int(name.start)..<Int(name.end)])
    if name.isSpecial || ByteScan.firstNonASCII(in: text, from: 0) != nil { entries[object].isSpecial = true }
    skipBlanks(bytes, &place)
    guard place < bytes.count, bytes[place] == UInt8(ascii: ":") else { return false }
    place &+= 1
    return true
  }

  /// A scalar, an empty container, or the beginning of another.
  private mutating func value(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Bool {
    skipBlanks(bytes, &place)
    guard place < bytes.count else { return false }
    switch bytes[place] {
    case UInt8(ascii: "\""): return string(bytes, &place)
    case UInt8(ascii: "{"): return container(.object, UInt8(ascii: "}"), bytes, &place)
    case UInt8(ascii: "["): return container(.array, UInt8(ascii: "]"), bytes, &place)
    case UInt8(ascii: "t"): return word(0x6575_7274, 4, .yes, bytes, &place)
    case UInt8(ascii: "n"): return word(0x6C6C_756E, 4, .null, bytes, &place)
    case UInt8(ascii: "f"):
      place &+= 1
      return word(0x6573_6C61, 4, .no, bytes, &place)
    default: return number(bytes, &place)
    }
  }

  private mutating func append(_ kind: Kind, isSpecial: Bool = false, _ start: Int, _ end: Int) {
    entries.append(
      JSONTape.Entry(
        kind: kind, isSpecial: isSpecial, start: UInt32(truncatingIfNeeded: start),
        end: UInt32(truncatingIfNeeded: end), next: UInt32(truncatingIfNeeded: entries.count &+ 1)))
  }

  private mutating func container(
    _ kind: Kind, _ end: UInt8, _ bytes: UnsafeRawBufferPointer, _ place: inout Int
  ) -> Bool {
    guard open.count < JSONTape.deepest else { return false }
    append(kind, place, 0)
    place &+= 1
    skipBlanks(bytes, &place)
    if place < bytes.count, bytes[place] == end {
      place &+= 1
      return true
    }
    open.append((entries.count &- 1, 0))
    return true
  }

  private mutating func word(
    _ word: UInt32, _ length: Int, _ kind: Kind, _ bytes: UnsafeRawBufferPointer, _ place: inout Int
  ) -> Bool {
    guard place &+ length <= bytes.count,
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)) == word
    else { return false }
    append(kind, place, place &+ length)
    place &+= length
    return true
  }

  private mutating func string(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Bool {
    let start = place &+ 1
    var end = start
    var hasEscapes = false
    while true {
      guard let stop = ByteScan.firstOfStringEnd(in: bytes, from: end) else { return false }
      if bytes[stop] == UInt8(ascii: "\"") {
        append(.string, isSpecial: hasEscapes, start, stop)
        place = stop &+ 1
        return true
      }
      // A control character, or a backslash with what it stands before.
      guard bytes[stop] == UInt8(ascii: "\\") else { return false }
      hasEscapes = true
      end = stop &+ 2
    }
  }

  private mutating func number(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Bool {
    let start = place
    var end = place
    func skipDigits() -> Bool {
      let first = end
      while end < bytes.count, DecimalDigits.isDigit(bytes[end]) { end &+= 1 }
      return end > first
    }
    if bytes[end] == UInt8(ascii: "-") { end &+= 1 }
    let first = end
    guard skipDigits() else { return false }
    if bytes[first] == UInt8(ascii: "0"), end &- first > 1 { return false }
    var isSpecial = false
    if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
      isSpecial = true
      end &+= 1
      guard skipDigits() else { return false }
    }
    if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
      isSpecial = true
      end &+= 1
      if end < bytes.count, bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-") { end &+= 1 }
      guard skipDigits() else { return false }
    }
    append(.number, isSpecial: isSpecial, start, end)
    place = end
    return true
  }
}
