/// The elements of one array.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
  private let document: JSONDocument
  private let array: Int
  private let total: Int
  private var place: Int
  private(set) var currentIndex = 0

  init(_ document: JSONDocument, _ array: Int) throws {
    let entry = document.entry(array)
    guard entry.kind == .array else { throw document.mismatch([Any].self, array) }
    self.document = document
    self.array = array
    total = Int(entry.end)
    place = array + 1
  }

  var codingPath: [any CodingKey] { document.path(to: array) }
  var count: Int? { total }
  var isAtEnd: Bool { currentIndex >= total }

  /// Reads the next element, and goes behind it where that went well.
  private mutating func next<Value>(_ type: Value.Type, _ read: (Int) throws -> Value) throws -> Value {
    guard !isAtEnd else { throw ended(type) }
    let value = try read(place)
    skip()
    return value
  }

  private func ended(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      DecodingError.Context(
        codingPath: codingPath + [JSONStep(intValue: currentIndex)],
        debugDescription: "the array has no more elements"))
  }

  private mutating func skip() {
    place = Int(document.entry(place).next)
    currentIndex += 1
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd else { throw ended(Never.self) }
    guard document.isNull(place) else { return false }
    skip()
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type, document.bool) }
  mutating func decode(_ type: String.Type) throws -> String { try next(type, document.string) }
  mutating func decode(_ type: Double.Type) throws -> Double { try next(type, document.double) }
  mutating func decode(_ type: Float.Type) throws -> Float { try next(type, document.float) }
  mutating func decode(_ type: Int.Type) throws -> Int { try next(type, document.integer) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type, document.integer) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type, document.integer) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type, document.integer) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type, document.integer) }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type, document.integer) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type, document.integer) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type, document.integer) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type, document.integer) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type, document.integer) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type, document.integer) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type, document.integer) }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let document = document
    return try next(type) { try document.value(type, $0) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try superDecoder().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try superDecoder().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder {
    let document = document
    return try next((any Decoder).self) { JSONValueDecoder(document: document, place: $0) }
  }
}
