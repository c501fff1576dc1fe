/// Header or trailer fields: an ordered list of name and value, as on the wire.
///
/// Look-up ignores the case of names, repeated names keep all their values in order and are never joined
/// (RFC 9110 §5.3), and the bytes of a value are kept as received. All fields share one byte buffer, so a
/// list of any length costs two allocations.
public struct HTTPFields: Sendable {
  struct Entry: Sendable, Equatable {
    var nameStart: UInt32
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32
  }

  var bytes: [UInt8] = []
  var entries: [Entry] = []

  /// No fields.
  public init() {}

  /// The number of field lines.
  public var count: Int { entries.count }
  /// Whether there is no field line.
  public var isEmpty: Bool { entries.isEmpty }

  /// The first value of a name, or nil. Setting replaces all of them (nil removes them).
  public subscript(_ name: String) -> String? {
    get {
      for entry in entries where matches(entry, name) { return value(of: entry) }
      return nil
    }
    set {
      removeAll(name)
      if let newValue { append(name, newValue) }
    }
  }

  /// All values of a name, in wire order.
  public subscript(all name: String) -> [String] {
    entries.compactMap { matches($0, name) ? value(of: $0) : nil }
  }

  /// Whether there is a field of this name.
  public func contains(_ name: String) -> Bool { entries.contains { matches($0, name) } }

  /// All values of a name as the bytes that came.
  public func rawValues(_ name: String) -> [[UInt8]] {
    entries.compactMap {
      matches($0, name) ? Array(bytes[Int($0.valueStart)..<Int($0.valueEnd)]) : nil
    }
  }

  /// Adds a field line at the end.
  public mutating func append(_ name: String, _ value: String) {
    var name = name
    var value = value
    name.withUTF8 { name in value.withUTF8 { value in append(nameBytes: name, valueBytes: value) } }
  }

  /// Adds a field line whose value is bytes.
  public mutating func append(_ name: String, bytes value: [UInt8]) {
    var name = name
    name.withUTF8 { name in value.withUnsafeBufferPointer { append(nameBytes: name, valueBytes: $0) } }
  }

  /// Adds a field line unless the name is there.
  public mutating func setDefault(_ name: String, _ value: @autoclosure () -> String) {
    if !contains(name) { append(name, value()) }
  }

  /// Adds all of another list at the end.
  public mutating func append(contentsOf other: HTTPFields) {
    for entry in other.entries { append(entry, of: other) }
  }

  private mutating func append(_ entry: Entry, of other: HTTPFields) {
    other.bytes.withUnsafeBufferPointer { all in
      append(
        nameBytes: UnsafeBufferPointer(rebasing: all[Int(entry.nameStart)..<Int(entry.nameEnd)]),
        valueBytes: UnsafeBufferPointer(rebasing: all[Int(entry.valueStart)..<Int(entry.valueEnd)]))
    }
  }

  /// Adds those of another list whose names aren't here, repeats and bytes kept.
  package mutating func appendMissing(from other: HTTPFields) {
    let own = self
    for entry in other.entries where !own.contains(other.name(of: entry)) { append(entry, of: other) }
  }

  /// Removes every field line of a name.
  public mutating func removeAll(_ name: String) {
    guard contains(name) else { return }
    // Rebuilt, so that the bytes of what goes don't stay: a name that is set again and again would pile up.
    let old = self
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    for entry in old.entries where !old.matches(entry, name) { append(entry, of: old) }
  }

  package mutating func append(
    nameBytes: UnsafeBufferPointer<UInt8>, valueBytes: UnsafeBufferPointer<UInt8>
  ) {
    let nameStart = UInt32(truncatingIfNeeded: bytes.count)
    bytes.append(contentsOf: nameBytes)
    let valueStart = UInt32(truncatingIfNeeded: bytes.count)
    bytes.append(contentsOf: valueBytes)
    entries.append(
      Entry(
        nameStart: nameStart, nameEnd: valueStart, valueStart: valueStart,
        valueEnd: UInt32(truncatingIfNeeded: bytes.count)))
  }

  /// Adds a field line that is there as one: all its bytes are copied at once.
  package mutating func append(line: UnsafeRawBufferPointer, name: Range<Int>, value: Range<Int>) {
    let start = bytes.count
    bytes.append(contentsOf: line)
    func position(_ index: Int) -> UInt32 { UInt32(truncatingIfNeeded: start &+ index) }
    entries.append(
      Entry(
        nameStart: position(name.lowerBound), nameEnd: position(name.upperBound),
        valueStart: position(value.lowerBound), valueEnd: position(value.upperBound)))
  }

  /// Adds to the value of the last field line, after a space.
  package mutating func extendLast(_ more: UnsafeRawBufferPointer) {
    guard let last = entries.last else { return }
    // What came after the value in its line isn't part of it.
    bytes.removeLast(bytes.count - Int(last.valueEnd))
    bytes.append(0x20)
    bytes.append(contentsOf: more)
    entries[entries.count - 1].valueEnd = UInt32(truncatingIfNeeded: bytes.count)
  }

  /// The first field that can't be sent, and why.
  package var firstInvalidField: (name: String, why: String)? {
    bytes.withUnsafeBufferPointer { bytes in
      for entry in entries {
        let name = bytes[Int(entry.nameStart)..<Int(entry.nameEnd)]
        if name.isEmpty || !name.allSatisfy(FieldSyntax.isTokenByte) {
          return (String(decoding: name.filter { $0 > 0x20 }, as: UTF8.self), "has a name that is no token")
        }
        if !bytes[Int(entry.valueStart)..<Int(entry.valueEnd)].allSatisfy(FieldSyntax.isValueByte) {
          return (self.name(of: entry), "has a value with CR, LF or NUL")
        }
      }
      return nil
    }
  }

  /// Calls `body` with name and value of each line, in order; the bytes are valid during the call alone.
  package func forEachLine(_ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Void) {
    forEachLine(whoseNameLength: { _ in true }, body)
  }

  /// The same for lines whose names are as long as is asked for.
  @inline(__always)
  func forEachLine(
    whoseNameLength isWanted: (Int) -> Bool,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Void
  ) {
    bytes.withUnsafeBufferPointer { bytes in
      for entry in entries where isWanted(Int(entry.nameEnd &- entry.nameStart)) {
        body(
          UnsafeBufferPointer(rebasing: bytes[Int(entry.nameStart)..<Int(entry.nameEnd)]),
          UnsafeBufferPointer(rebasing: bytes[Int(entry.valueStart)..<Int(entry.valueEnd)]))
      }
    }
  }

  /// Whether the bytes of a name are these small letters, whatever their case.
  package static func isName(_ bytes: UnsafeBufferPointer<UInt8>, _ name: StaticString) -> Bool {
    guard bytes.count == name.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count {
      let wanted = name.utf8Start[index]
      if bytes[index] != wanted, FieldSyntax.lower(bytes[index]) != wanted { return false }
    }
    return true
  }

  /// Whether the other list has the very same bytes.
  package func isIdentical(to other: HTTPFields) -> Bool {
    entries == other.entries && bytes == other.bytes
  }

  package mutating func reserve(bytes byteCount: Int, fields: Int) {
    bytes.reserveCapacity(byteCount)
    entries.reserveCapacity(fields)
  }

  /// The size of all names and values in bytes.
  package var byteCount: Int { bytes.count }

  private func matches(_ entry: Entry, _ name: String) -> Bool { Self.matches(entry, name, in: bytes) }

  private static func matches(_ entry: Entry, _ name: String, in bytes: [UInt8]) -> Bool {
    let utf8 = name.utf8
    guard Int(entry.nameEnd &- entry.nameStart) == utf8.count else { return false }
    var index = Int(entry.nameStart)
    for byte in utf8 {
      if FieldSyntax.lower(byte) != FieldSyntax.lower(bytes[index]) { return false }
      index += 1
    }
    return true
  }

  func name(of entry: Entry) -> String {
    String(decoding: bytes[Int(entry.nameStart)..<Int(entry.nameEnd)], as: UTF8.self)
  }

  /// UTF-8 where it is valid, else each byte as the character of that number (obs-text, RFC 9110 §5.5).
  func value(of entry: Entry) -> String {
    let slice = bytes[Int(entry.valueStart)..<Int(entry.valueEnd)]
    if let text = String(validating: slice, as: UTF8.self) { return text }
    return String(String.UnicodeScalarView(slice.map { Unicode.Scalar($0) }))
  }
}

extension HTTPFields: RandomAccessCollection {
  /// One field line.
  public struct Field: Sendable, Hashable {
    /// The name as it came or as it was set.
    public let name: String
    /// The value; bytes that aren't UTF-8 are read as ISO 8859-1.
    public let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The position of the first field line.
  public var startIndex: Int { 0 }
  /// The position after the last field line.
  public var endIndex: Int { entries.count }

  /// The field line at a position.
  public subscript(position: Int) -> Field {
    Field(name: name(of: entries[position]), value: value(of: entries[position]))
  }
}

extension HTTPFields: ExpressibleByDictionaryLiteral, Equatable, CustomStringConvertible {
  /// Fields from pairs, in order, repeats kept.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }

  /// The same names (whatever their case) and values in the same order.
  public static func == (left: HTTPFields, right: HTTPFields) -> Bool {
    guard left.count == right.count else { return false }
    for (one, other) in zip(left.entries, right.entries) {
      guard left.matches(one, right.name(of: other)) else { return false }
      guard
        left.bytes[Int(one.valueStart)..<Int(one.valueEnd)]
          == right.bytes[Int(other.valueStart)..<Int(other.valueEnd)]
      else { return false }
    }
    return true
  }

  /// Names and values, those that carry secrets cut.
  public var description: String {
    map { "\($0.name): \(Redaction.isSecretField($0.name) ? Redaction.mark : $0.value)" }
      .joined(separator: "\n")
  }
}
