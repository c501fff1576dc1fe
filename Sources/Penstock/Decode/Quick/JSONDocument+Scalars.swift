import FoundationEssentials

/// Single values.
extension JSONDocument {
  @inline(__always)
  func isNull(_ place: Int) -> Bool { tape.entries[place].kind == .null }

  func bool(_ place: Int) throws -> Bool {
    switch tape.entries[place].kind {
    case .yes: return true
    case .no: return false
    default: throw mismatch(Bool.self, place)
    }
  }

  func string(_ place: Int) throws -> String {
    let entry = tape.entries[place]
    guard entry.kind == .string else { throw mismatch(String.self, place) }
    if let text = tape.string(entry) { return text }
    throw corrupted("a string is no text", place)
  }

  func integer<Value: FixedWidthInteger>(_ place: Int) throws -> Value {
    let entry = tape.entries[place]
    guard entry.kind == .number else { throw mismatch(Value.self, place) }
    if !entry.isSpecial {
      let whole = tape.withText(of: entry, Self.whole)
      if let value = whole.map(Value.init(exactly:)) ?? Value(numberText(entry)) { return value }
      throw corrupted("the number doesn't fit into \(Value.self)", place)
    }
    guard let parts = tape.withText(of: entry, Self.decimalParts) else {
      throw corrupted("the number is too long", place)
    }
    let power = Self.wholePowers[parts.places]
    guard parts.digits % power == 0 else { throw broken("the number isn't whole", place) }
    let whole = parts.digits / power
    if let value = Value(exactly: parts.isNegative ? -whole : whole) { return value }
    throw corrupted("the number doesn't fit into \(Value.self)", place)
  }

  func double(_ place: Int) throws -> Double {
    let entry = tape.entries[place]
    guard entry.kind == .number else { throw mismatch(Double.self, place) }
    if let value = tape.withText(of: entry, Self.exactDouble) { return value }
    let value = Double(numberText(entry)) ?? .infinity
    guard value.isNormal else { throw corrupted("the number doesn't fit", place) }
    return value
  }

  func float(_ place: Int) throws -> Float {
    let entry = tape.entries[place]
    guard entry.kind == .number else { throw mismatch(Float.self, place) }
    let value = Float(numberText(entry)) ?? .infinity
    guard value.isNormal || value == 0 && tape.withText(of: entry, Self.exactDouble) == 0 else {
      throw corrupted("the number doesn't fit", place)
    }
    return value
  }

  func decimal(_ place: Int) throws -> Decimal {
    let entry = tape.entries[place]
    guard entry.kind == .number else { throw mismatch(Decimal.self, place) }
    guard let parts = tape.withText(of: entry, Self.decimalParts) else {
      throw corrupted("the number isn't a short decimal", place)
    }
    return Decimal(
      sign: parts.isNegative ? .minus : .plus, exponent: -parts.places, significand: Decimal(parts.digits))
  }

  func date(_ place: Int) throws -> Date {
    switch dates {
    case .foundation: return Date(timeIntervalSinceReferenceDate: try double(place))
    case .form(.unixSeconds): return Date(timeIntervalSince1970: try double(place))
    case .form(.unixMilliseconds): return Date(timeIntervalSince1970: try double(place) / 1000)
    case .form(let form):
      let text = try string(place)
      if let date = form.date(text) { return date }
      throw corrupted("\"\(text.prefix(40))\" isn't a date of the form that is expected", place)
    }
  }

  func data(_ place: Int) throws -> Data {
    if let data = Data(base64Encoded: try string(place)) { return data }
    throw corrupted("the string isn't Base64", place)
  }

  func url(_ place: Int) throws -> URL {
    if let url = URL(string: try string(place)) { return url }
    throw corrupted("the string isn't a URL", place)
  }

  private func numberText(_ entry: JSONTape.Entry) -> String {
    tape.withText(of: entry) { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: digits

  /// The number of a sign and digits; nil beyond 18 of them.
  private static func whole(_ text: UnsafeRawBufferPointer) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    guard text.count <= 18 else { return nil }
    var value: Int64 = 0
    for index in (isNegative ? 1 : 0)..<text.count {
      value = value &* 10 &+ Int64(text[index] &- UInt8(ascii: "0"))
    }
    return isNegative ? -value : value
  }

  /// The digits of a number without exponent, at most 15 of them, and how many stand behind the point.
  private static func decimalParts(
    _ text: UnsafeRawBufferPointer
  ) -> (isNegative: Bool, digits: Int64, places: Int)? {
    guard text.count <= 17 else { return nil }
    var digits: Int64 = 0
    var count = 0
    var point: Int?
    let isNegative = text.first == UInt8(ascii: "-")
    for byte in text.dropFirst(isNegative ? 1 : 0) {
      if byte == UInt8(ascii: ".") {
        point = count
        continue
      }
      guard DecimalDigits.isDigit(byte) else { return nil }
      digits = digits &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
      count += 1
    }
    return count <= 15 ? (isNegative, digits, point.map { count - $0 } ?? 0) : nil
  }

  /// What is exact in one division: 15 digits, and a power of ten up to the fifteenth.
  private static func exactDouble(_ text: UnsafeRawBufferPointer) -> Double? {
    guard let parts = decimalParts(text) else { return nil }
    let value = Double(parts.digits) / powers[parts.places]
    return parts.isNegative ? -value : value
  }

  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]

  private static let wholePowers: [Int64] = (0...15).map { place in
    (0..<place).reduce(1) { power, _ in power * 10 }
  }

  // MARK: errors

  /// The type of a value isn't what is asked for: any decoder says so.
  func mismatch(_ type: Any.Type, _ place: Int) -> DecodingError {
    let context = DecodingError.Context(codingPath: path(to: place), debugDescription: "\(type) was expected")
    return isNull(place) ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  /// Something is wrong or too unusual: Foundation is to judge.
  func corrupted(_ reason: String, _ place: Int) -> DecodingError {
    isUnsure = true
    return broken(reason, place)
  }

  /// Something that no decoder reads.
  private func broken(_ reason: String, _ place: Int) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: path(to: place), debugDescription: reason))
  }
}
