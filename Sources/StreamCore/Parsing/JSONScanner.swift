/// Checks JSON (RFC 8259) as it comes, in pieces that are cut anywhere, and tells where the outer values begin and
/// end. Bytes of strings are not checked for being UTF-8.
package struct JSONScanner: Sendable {
  /// What a value is, by its first byte.
  package enum Shape: Sendable, Hashable {
    case array
    case object
    case scalar
  }

  /// What was met.
  package enum Event: Sendable {
    /// The bytes are used up.
    case more
    /// A value begins at this place, inside of `level` containers.
    case begin(at: Int, level: Int, Shape)
    /// The value that began at this level ends right before this place.
    case end(at: Int, level: Int)
    /// `key` holds the name of the value that comes next, in an object that is the container number `level`.
    case key(level: Int)
    /// No JSON from this place on.
    case invalid(at: Int, expected: StaticString)
  }

  /// How the end of the bytes finds it.
  package enum Ending: Sendable, Hashable {
    /// A whole value; one of digits at the outermost level has ended by this.
    case complete
    /// Nothing but blanks came.
    case empty
    /// Within a value.
    case cut
  }

  private enum State: Sendable {
    case value
    /// A value or the end of the array.
    case firstElement
    /// A name or the end of the object.
    case firstKey
    case key
    case colon
    case afterValue
    case done
    case string
    case escape
    case hex
    case minus
    case zero
    case integer
    case point
    case fraction
    case exponent
    case exponentSign
    case exponentDigits
    case literal
    case failed
  }

  /// As deep as Foundation's decoder goes.
  package static let maximumDepth = 512
  /// Names above this many bytes aren't kept: they count as names that nobody asks for.
  private static let keyLimit = 4 << 10

  /// Events are told of values at this level or an outer one; -1 for none.
  private let watch: Int
  private var state = State.value
  /// For each open container whether it is an object.
  private var stack: [Bool] = []
  private var isObject = false
  private var isKey = false
  private var hexLeft = 0
  /// What is left of `true`, `false` or `null`, the next byte lowest.
  private var literal: UInt64 = 0
  private var failure: StaticString = ""
  private var keyIsTooLong = false
  /// The last name as it came, escapes included; empty where it was too long.
  package private(set) var key: [UInt8] = []
  /// Blanks stood where none are needed.
  package private(set) var hasBlanks = false

  package init(watching level: Int) { watch = level }

  private var depth: Int { stack.count }

  /// Goes on to the next event, from `position`, which it moves on.
  package mutating func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Event {
    while position < bytes.count {
      let byte = bytes[position]
      switch state {
      case .string:
        if let event = string(bytes, &position) { return event }
      case .value, .firstElement:
        if isBlank(byte, &position) { continue }
        if byte == UInt8(ascii: "]"), state == .firstElement {
          if let event = close(&position) { return event }
        } else if let event = begin(byte, &position) {
          return event
        }
      case .afterValue:
        if isBlank(byte, &position) { continue }
        if byte == UInt8(ascii: ",") {
          position &+= 1
          state = isObject ? .key : .value
        } else if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          if let event = close(&position) { return event }
        } else {
          return fail(
            position, isObject ? "a comma or the end of the object" : "a comma or the end of the array")
        }
      case .firstKey, .key:
        if isBlank(byte, &position) { continue }
        if byte == UInt8(ascii: "\"") {
          position &+= 1
          isKey = true
          key.removeAll(keepingCapacity: true)
          keyIsTooLong = false
          state = .string
        } else if byte == UInt8(ascii: "}"), state == .firstKey {
          if let event = close(&position) { return event }
        } else {
          return fail(position, "a name in quotation marks")
        }
      case .colon:
        if isBlank(byte, &position) { continue }
        guard byte == UInt8(ascii: ":") else { return fail(position, "a colon") }
        position &+= 1
        state = .value
      case .done:
        if isBlank(byte, &position) { continue }
        return fail(position, "the end")
      case .failed: return .invalid(at: position, expected: failure)
      case .escape, .hex, .literal:
        if let event = inside(byte, &position) { return event }
      case .minus, .zero, .integer, .point, .fraction, .exponent, .exponentSign, .exponentDigits:
        if let event = number(byte, &position) { return event }
      }
    }
    return .more
  }

  /// Nothing more comes.
  package mutating func finish() -> Ending {
    switch state {
    case .done: return .complete
    case .zero, .integer, .fraction, .exponentDigits:
      guard depth == 0 else { return .cut }
      state = .done
      return .complete
    case .value: return depth == 0 ? .empty : .cut
    default: return .cut
    }
  }

  /// Begins anew with the same memory.
  package mutating func reset() {
    state = .value
    stack.removeAll(keepingCapacity: true)
    isObject = false
    hasBlanks = false
  }

  @inline(__always)
  private mutating func isBlank(_ byte: UInt8, _ position: inout Int) -> Bool {
    guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return false }
    position &+= 1
    hasBlanks = true
    return true
  }

  private mutating func fail(_ position: Int, _ expected: StaticString) -> Event {
    state = .failed
    failure = expected
    return .invalid(at: position, expected: expected)
  }

  @inline(__always)
  private mutating func begin(_ byte: UInt8, _ position: inout Int) -> Event? {
    let level = depth
    var shape = Shape.scalar
    switch byte {
    case UInt8(ascii: "\""):
      isKey = false
      state = .string
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      if level == Self.maximumDepth { return fail(position, "no more than 512 containers in each other") }
      isObject = byte == UInt8(ascii: "{")
      shape = isObject ? .object : .array
      stack.append(isObject)
      state = isObject ? .firstKey : .firstElement
    case UInt8(ascii: "0"): state = .zero
    case UInt8(ascii: "1")...UInt8(ascii: "9"): state = .integer
    case UInt8(ascii: "-"): state = .minus
    case UInt8(ascii: "t"): literal = 0x65_75_72
    case UInt8(ascii: "f"): literal = 0x65_73_6C_61
    case UInt8(ascii: "n"): literal = 0x6C_6C_75
    default: return fail(position, "a value")
    }
    if byte == UInt8(ascii: "t") || byte == UInt8(ascii: "f") || byte == UInt8(ascii: "n") {
      state = .literal
    }
    position &+= 1
    return level <= watch ? .begin(at: position &- 1, level: level, shape) : nil
  }

  @inline(__always)
  private mutating func close(_ position: inout Int) -> Event? {
    position &+= 1
    stack.removeLast()
    isObject = stack.last ?? false
    return ended(at: position)
  }

  /// A value has ended right before a place.
  @inline(__always)
  private mutating func ended(at place: Int) -> Event? {
    let level = depth
    state = level == 0 ? .done : .afterValue
    return level <= watch ? .end(at: place, level: level) : nil
  }

  private mutating func string(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Event? {
    let start = position
    let stop = ByteScan.firstOfStringEnd(in: bytes, from: start) ?? bytes.count
    if isKey, depth <= watch { keep(UnsafeRawBufferPointer(rebasing: bytes[start..<stop])) }
    position = stop
    guard stop < bytes.count else { return nil }
    switch bytes[stop] {
    case UInt8(ascii: "\""):
      position &+= 1
      guard isKey else { return ended(at: position) }
      state = .colon
      return depth <= watch ? .key(level: depth) : nil
    case UInt8(ascii: "\\"):
      position &+= 1
      state = .escape
      if isKey, depth <= watch { keep(UnsafeRawBufferPointer(rebasing: bytes[stop..<stop &+ 1])) }
      return nil
    default: return fail(stop, "no control character in a string")
    }
  }

  private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
    if keyIsTooLong || key.count + bytes.count > Self.keyLimit {
      keyIsTooLong = true
      key.removeAll(keepingCapacity: true)
    } else {
      key.append(contentsOf: bytes)
    }
  }

  /// A byte of an escape or of `true`, `false` and `null`.
  private mutating func inside(_ byte: UInt8, _ position: inout Int) -> Event? {
    if state == .literal {
      guard byte == UInt8(truncatingIfNeeded: literal) else {
        return fail(position, "\"true\", \"false\" or \"null\"")
      }
      position &+= 1
      literal >>= 8
      return literal == 0 ? ended(at: position) : nil
    }
    if state == .escape {
      switch byte {
      case UInt8(ascii: "u"):
        state = .hex
        hexLeft = 4
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
        UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        state = .string
      default: return fail(position, "an escape that JSON knows")
      }
    } else {
      guard HexDigits.value(of: byte) != nil else { return fail(position, "four hexadecimal digits") }
      hexLeft &-= 1
      if hexLeft == 0 { state = .string }
    }
    if isKey, depth <= watch { withUnsafeBytes(of: byte) { keep($0) } }
    position &+= 1
    return nil
  }

  private mutating func number(_ byte: UInt8, _ position: inout Int) -> Event? {
    let isDigit = DecimalDigits.isDigit(byte)
    switch state {
    case .minus:
      guard isDigit else { return fail(position, "a digit") }
      state = byte == UInt8(ascii: "0") ? .zero : .integer
    case .zero, .integer:
      if isDigit, state == .integer { break }
      if byte == UInt8(ascii: ".") {
        state = .point
      } else if byte | 0x20 == UInt8(ascii: "e") {
        state = .exponent
      } else {
        return isDigit ? fail(position, "no digit after a leading 0") : ended(at: position)
      }
    case .point:
      guard isDigit else { return fail(position, "a digit") }
      state = .fraction
    case .fraction:
      if isDigit { break }
      guard byte | 0x20 == UInt8(ascii: "e") else { return ended(at: position) }
      state = .exponent
    case .exponent:
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") {
        state = .exponentSign
        break
      }
      guard isDigit else { return fail(position, "a digit") }
      state = .exponentDigits
    case .exponentSign:
      guard isDigit else { return fail(position, "a digit") }
      state = .exponentDigits
    default:
      if !isDigit { return ended(at: position) }
    }
    position &+= 1
    return nil
  }
}
