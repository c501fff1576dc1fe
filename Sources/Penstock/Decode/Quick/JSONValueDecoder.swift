import FoundationEssentials

/// The decoder of one value of a document. Three words, so that it needs no memory of its own as an `any Decoder`.
struct JSONValueDecoder: Decoder {
  let document: JSONDocument
  let place: Int

  var codingPath: [any CodingKey] { document.path(to: place) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard document.entry(place).kind == .object else {
      throw document.mismatch([String: Any].self, place)
    }
    return KeyedDecodingContainer(JSONKeyedContainer<Key>(document: document, object: place))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try JSONUnkeyedContainer(document, place)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { document.isNull(place) }
  func decode(_ type: Bool.Type) throws -> Bool { try document.bool(place) }
  func decode(_ type: String.Type) throws -> String { try document.string(place) }
  func decode(_ type: Double.Type) throws -> Double { try document.double(place) }
  func decode(_ type: Float.Type) throws -> Float { try document.float(place) }
  func decode(_ type: Int.Type) throws -> Int { try document.integer(place) }
  func decode(_ type: Int8.Type) throws -> Int8 { try document.integer(place) }
  func decode(_ type: Int16.Type) throws -> Int16 { try document.integer(place) }
  func decode(_ type: Int32.Type) throws -> Int32 { try document.integer(place) }
  func decode(_ type: Int64.Type) throws -> Int64 { try document.integer(place) }
  func decode(_ type: Int128.Type) throws -> Int128 { try document.integer(place) }
  func decode(_ type: UInt.Type) throws -> UInt { try document.integer(place) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try document.integer(place) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try document.integer(place) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try document.integer(place) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try document.integer(place) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try document.integer(place) }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try document.value(type, place) }
}

extension JSONDocument {
  private static let strings = ObjectIdentifier([String].self)
  private static let string = ObjectIdentifier(String.self)
  private static let date = ObjectIdentifier(Date.self)
  private static let data = ObjectIdentifier(Data.self)
  private static let url = ObjectIdentifier(URL.self)
  private static let decimal = ObjectIdentifier(Decimal.self)

  /// The value of any type at a place. Some types have a form in JSON that they don't know of themselves.
  func value<Value: Decodable>(_ type: Value.Type, _ place: Int) throws -> Value {
    let special: Any
    switch ObjectIdentifier(type) {
    case Self.string: special = try string(place)
    case Self.strings: special = try strings(place)
    case Self.date: special = try date(place)
    case Self.data: special = try data(place)
    case Self.url: special = try url(place)
    case Self.decimal: special = try decimal(place)
    default: return try Value(from: JSONValueDecoder(document: self, place: place))
    }
    guard let value = special as? Value else { throw mismatch(type, place) }
    return value
  }

  /// The most common array, without a container.
  private func strings(_ place: Int) throws -> [String] {
    let entry = tape.entries[place]
    guard entry.kind == .array else { throw mismatch([Any].self, place) }
    var strings: [String] = []
    strings.reserveCapacity(Int(entry.end))
    var child = place + 1
    for _ in 0..<entry.end {
      strings.append(try string(child))
      child = Int(tape.entries[child].next)
    }
    return strings
  }
}
